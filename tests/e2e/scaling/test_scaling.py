"""Workers that come and go with the queue, by the real KEDA and the chart's own ScaledObject."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from dev.node import keda
from receipt_contract.access import BrokerUser
from receipt_contract.requests import Kind
from tests.e2e.ground import Ground
from tests.e2e.tenant import RELEASE, Tenant, eventually
from tests.support.logins import BrokerLogins
from tests.support.pipeline import count
from tests.support.receipts import long_receipt

REPROCESS = Kind.RECEIPT_REPROCESS
SECRET = "broker-scaler"  # noqa: S105  # its name
RECEIPTS = 6
PAGES = 3
LOOKS = 20  # in vain: longer than a count takes to change


@pytest.fixture(scope="module")
def scaler(ground: Ground, tenant: Tenant) -> Iterator[BrokerLogins]:
    """Give the broker's users, among them the one that may only look."""
    made = BrokerLogins(ground.broker, tenant.places.broker)
    yield made
    made.close()


@pytest.fixture(scope="module")
def scaled(ground: Ground, tenant: Tenant, scaler: BrokerLogins) -> Tenant:
    """Give a release whose workers KEDA counts, asking the management API."""
    keda.install(ground.cluster)
    parts = urlsplit(scaler.url(BrokerUser.SCALER))
    tenant.make_secret(
        SECRET,
        username=parts.username or "",
        password=parts.password or "",
        url=ground.reached(scaler.url(BrokerUser.SCALER)),
    )
    tenant.install(keda=_over_http(ground, scaler.vhost))
    eventually(lambda: _condition(tenant, "Ready") == "True", "the ScaledObject is ready")
    return tenant


def _over_http(ground: Ground, vhost: str) -> dict[str, Any]:
    return {
        **_over_amqp(),
        "protocol": "http",
        "managementUrl": ground.reached_api(),
        "vhost": vhost,
    }


def _over_amqp() -> dict[str, Any]:
    return {
        "enabled": True,
        "protocol": "amqp",
        "secret": SECRET,
        "queueLength": 2,
        "pollingSeconds": 2,
        "scaleDownSeconds": 10,
        "failureThreshold": 1,
    }


def _scaled_object(tenant: Tenant) -> dict[str, Any]:
    read = json.loads(tenant.kubectl("get", "scaledobject", f"{RELEASE}-worker", "--output=json"))
    status: dict[str, Any] = read.get("status", {})
    return status


def _condition(tenant: Tenant, kind: str) -> str:
    conditions = _scaled_object(tenant).get("conditions", ())
    return next((one["status"] for one in conditions if one["type"] == kind), "")


def _looks_in_vain(tenant: Tenant) -> int:
    health = _scaled_object(tenant).get("health", {}).values()
    return max((one["numberOfFailures"] for one in health), default=0)


def _warnings(tenant: Tenant) -> str:
    wanted = f"involvedObject.kind=ScaledObject,involvedObject.name={RELEASE}-worker"
    return tenant.kubectl("get", "events", f"--field-selector={wanted},type=Warning", "-oyaml")


def _workers(tenant: Tenant) -> int:
    return len(tenant.pods("worker"))


def _restarts(tenant: Tenant) -> int:
    return sum(
        container["restartCount"]
        for pod in tenant.pods("worker")
        for container in pod["status"]["containerStatuses"]
    )


def _ask_for(tenant: Tenant, folder: str, *, first: int) -> None:
    """Have long receipts read, more than one worker is enough for."""
    files = {
        f"{folder}/{number}.pdf": long_receipt(first + number, pages=PAGES)
        for number in range(RECEIPTS)
    }
    tenant.put(files)
    tenant.apply(REPROCESS, folder, target={"references": list(files)})


def _wait_read(tenant: Tenant, folder: str) -> None:
    status = tenant.wait_finished(REPROCESS, folder)
    assert (status["state"], count(status, "done")) == ("Succeeded", RECEIPTS)


def _runs(tenant: Tenant) -> int:
    [row] = tenant.rows("SELECT count(DISTINCT run_uuid) AS runs FROM work.inbox")
    return int(row["runs"])


def _comes_and_goes(tenant: Tenant, folder: str, *, first: int) -> None:
    before = _runs(tenant)
    _ask_for(tenant, folder, first=first)

    eventually(lambda: _workers(tenant) == 2, "a second worker comes")
    _wait_read(tenant, folder)
    eventually(lambda: _workers(tenant) == 1, "one worker stays")

    assert _runs(tenant) == before + RECEIPTS


def test_g2_a_second_worker_comes_for_a_backlog_and_goes_without_losing_its_receipt(
    scaled: Tenant,
) -> None:
    _comes_and_goes(scaled, "backlog", first=100)


def test_workers_stay_while_the_broker_is_away_and_go_on_when_it_is_back(
    ground: Ground, scaled: Tenant
) -> None:
    if not ground.road.ports:
        pytest.skip("this broker is not ours to take away")
    _ask_for(scaled, "outage", first=200)
    eventually(lambda: _workers(scaled) == 2, "a second worker comes")

    ground.road.cut()
    try:
        eventually(lambda: _condition(scaled, "Fallback") == "True", "KEDA says it falls back")
        eventually(lambda: _looks_in_vain(scaled) >= LOOKS, "it looks again")
        meanwhile = (_workers(scaled), _restarts(scaled))
    finally:
        ground.road.open()
    _wait_read(scaled, "outage")
    eventually(lambda: _workers(scaled) == 1, "one worker stays")

    assert meanwhile == (2, 0)
    assert _condition(scaled, "Fallback") == "False"


def test_a_refused_password_is_said_and_workers_stay_until_the_secret_is_right(
    ground: Ground, scaled: Tenant, scaler: BrokerLogins
) -> None:
    parts = urlsplit(scaler.url(BrokerUser.SCALER))
    user, password = parts.username or "", parts.password or ""
    _ask_for(scaled, "password", first=300)
    eventually(lambda: _workers(scaled) == 2, "a second worker comes")

    ground.broker.api.create_user(user, "changed", tags="management")
    eventually(lambda: "401 Unauthorized" in _warnings(scaled), "an event says it")
    eventually(lambda: _looks_in_vain(scaled) >= LOOKS, "KEDA looks again")
    meanwhile = (_workers(scaled), _condition(scaled, "Fallback"))
    said = _warnings(scaled)
    changed = json.dumps({"stringData": {"password": "changed"}})
    scaled.kubectl("patch", "secret", SECRET, f"--patch={changed}")
    _wait_read(scaled, "password")
    eventually(lambda: _workers(scaled) == 1, "one worker stays")
    afterwards = _condition(scaled, "Fallback")
    ground.broker.api.create_user(user, password, tags="management")

    assert (meanwhile, afterwards) == ((2, "True"), "False")
    assert password not in said


def test_g2_it_is_the_same_when_the_queue_itself_is_asked(scaled: Tenant) -> None:
    scaled.upgrade(keda=_over_amqp())
    eventually(lambda: _condition(scaled, "Ready") == "True", "the ScaledObject is ready")

    _comes_and_goes(scaled, "amqp", first=400)
