"""Two releases in two namespaces of one cluster do not see each other."""

from collections.abc import Iterator
from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.e2e import ground as grounds
from tests.e2e.ground import Ground
from tests.e2e.tenant import RELEASE, Tenant
from tests.support.pipeline import count

REPROCESS = Kind.RECEIPT_REPROCESS
RECEIPT = "2024-03/lakeside-grocery.png"


@pytest.fixture
def other(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """Give a namespace whose release makes its own volumes and has one user for everything."""
    with grounds.empty(
        ground, tmp_path_factory.mktemp("other"), receipts=f"{RELEASE}-receipts"
    ) as made:
        made.make_secret("broker", url=ground.reached(made.places.broker))
        made.make_secret("database", url=ground.reached(made.places.database))
        yield made


def test_two_releases_do_not_see_each_other(tenant: Tenant, other: Tenant) -> None:
    tenant.install()
    other.install(**_with_one_user())
    grounds.put_samples(other)
    for one in (tenant, other):
        one.watch_messages()

    tenant.apply(REPROCESS, "same", target={"reference": RECEIPT})
    first = tenant.wait_finished(REPROCESS, "same")
    seen_by_other = other.published()
    other.apply(REPROCESS, "same", target={"reference": RECEIPT}, runId="other")
    second = other.wait_finished(REPROCESS, "same")

    assert (count(first, "done"), count(second, "done")) == (1, 1)
    assert seen_by_other == 0
    assert (tenant.published(), other.published()) == (1, 1)
    assert tenant.status(REPROCESS, "same") == first
    assert [pod["metadata"]["namespace"] for pod in other.pods("operator")] == [other.namespace]


def _with_one_user() -> dict[str, Any]:
    broker = {"name": "broker"}
    database = {"name": "database"}
    volume = {
        "existingClaim": "",
        "create": {"enabled": True, "size": "1Gi", "accessModes": ["ReadWriteOnce"]},
    }
    users = ("operator", "worker", "collector", "topology")
    roles = ("operator", "collector", "publisher", "migrations")
    return {
        "crds": {"install": False},
        "rabbitmq": {"topology": "declare", "secrets": dict.fromkeys(users, broker)},
        "topologyDeclaration": {"enabled": False},
        "postgresql": {"secrets": dict.fromkeys(roles, database)},
        "storage": {"receipts": volume, "cache": volume},
    }
