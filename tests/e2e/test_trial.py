"""The trial: one command brings broker and database too, and takes them away again."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from dev.kubernetes.kind import KindCluster
from dev.node import trial
from receipt_contract.requests import Kind
from tests.e2e import ground as grounds
from tests.e2e.ground import Ground
from tests.e2e.tenant import RELEASE, Tenant, eventually
from tests.support.pipeline import count

REPROCESS = Kind.RECEIPT_REPROCESS
RECEIPTS = ("2024-03/lakeside-grocery.png", "2024-05/station-cafe.jpg")


@pytest.fixture
def empty(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """Give a namespace with nothing in it."""
    with grounds.empty(
        ground, tmp_path_factory.mktemp("trial"), receipts=f"{RELEASE}-receipts"
    ) as made:
        yield made


def _values(ground: Ground) -> dict[str, Any]:
    """Return what the documents set on a cluster with one node, instead of what is in `mine.yaml`.

    The nodes of kind get the images that the chart names.
    """
    nothing = {"name": ""}
    users = ("operator", "worker", "collector", "topology")
    roles = ("operator", "collector", "publisher", "migrations")
    volume = {
        "existingClaim": "",
        "create": {"enabled": True, "size": "1Gi", "accessModes": ["ReadWriteOnce"]},
    }
    is_kind = isinstance(ground.cluster, KindCluster)
    servers = {} if is_kind else trial.load(ground.cluster)
    return {
        "cluster": "trial",
        "trial": {"enabled": True, "password": secrets.token_hex(16), **servers},
        "rabbitmq": {"secrets": dict.fromkeys(users, nothing)},
        "postgresql": {"secrets": dict.fromkeys(roles, nothing)},
        "storage": {"receipts": volume, "cache": volume},
    }


def _left(tenant: Tenant, what: str) -> str:
    selector = "app.kubernetes.io/component in (trial-rabbitmq, trial-postgresql)"
    return tenant.kubectl("get", what, f"--selector={selector}", "--output=name")


def test_a_trial_reads_receipts_and_leaves_no_broker_and_no_database(
    ground: Ground, empty: Tenant
) -> None:
    empty.install(**_values(ground))
    grounds.put_samples(empty)

    empty.apply(REPROCESS, "tried", target={"references": list(RECEIPTS)})
    status = empty.wait_finished(REPROCESS, "tried")
    said = empty.test()
    empty.uninstall()

    assert (status["state"], count(status, "done")) == ("Succeeded", len(RECEIPTS))
    assert "RabbitMQ" in said
    eventually(lambda: not _left(empty, "pods,services,pvc"), "its servers and their data go")
