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
    return tenant


def _over_http(ground: Ground, vhost: str) -> dict[str, Any]:
    return {
        "enabled": True,
        "managementUrl": ground.reached_api(),
        "vhost": vhost,
        "secret": SECRET,
        "queueLength": 2,
        "pollingSeconds": 2,
        "scaleDownSeconds": 10,
    }


def _condition(tenant: Tenant, kind: str) -> str:
    scaled = json.loads(tenant.kubectl("get", "scaledobject", f"{RELEASE}-worker", "-ojson"))
    conditions = scaled.get("status", {}).get("conditions", ())
    return next((one["status"] for one in conditions if one["type"] == kind), "")


def _workers(tenant: Tenant) -> int:
    return len(tenant.pods("worker"))


def _ask_for(tenant: Tenant, folder: str, *, first: int) -> list[str]:
    files = {
        f"{folder}/{number}.pdf": long_receipt(first + number, pages=PAGES)
        for number in range(RECEIPTS)
    }
    tenant.put(files)
    tenant.apply(REPROCESS, folder, target={"references": list(files)})
    return list(files)


def _runs(tenant: Tenant) -> int:
    [row] = tenant.rows("SELECT count(DISTINCT run_uuid) AS runs FROM work.inbox")
    return int(row["runs"])


def test_g2_a_second_worker_comes_for_a_backlog_and_goes_without_losing_its_receipt(
    scaled: Tenant,
) -> None:
    eventually(lambda: _condition(scaled, "Ready") == "True", "the ScaledObject is ready")
    references = _ask_for(scaled, "backlog", first=100)

    eventually(lambda: _workers(scaled) == 2, "a second worker comes")
    status = scaled.wait_finished(REPROCESS, "backlog")
    eventually(lambda: _workers(scaled) == 1, "one worker stays")

    assert (status["state"], count(status, "done")) == ("Succeeded", RECEIPTS)
    assert _runs(scaled) == len(references)
