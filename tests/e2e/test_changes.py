"""A release that is upgraded, rolled back, taken away and installed again, while there is work."""

from pathlib import Path

import pytest

from receipt_contract.requests import Kind
from tests.e2e.tenant import OLDER, Tenant, eventually, version
from tests.support.pipeline import count
from tests.support.receipts import long_receipt, small_receipt

REPROCESS = Kind.RECEIPT_REPROCESS
SMALL = tuple(f"change/{number}.png" for number in range(8))
COMPONENTS = ("operator", "worker", "collector")


@pytest.fixture(scope="module")
def older(tenant: Tenant, older_chart: Path) -> Tenant:
    """Give the namespace with the release as it was a version earlier."""
    tenant.install(older_chart)
    tenant.watch_messages()
    tenant.put({name: small_receipt(number).content for number, name in enumerate(SMALL)})
    tenant.put({"change/long.pdf": long_receipt(3, pages=4)})
    return tenant


def _versions(tenant: Tenant) -> set[str]:
    images = [
        pod["spec"]["containers"][0]["image"] for part in COMPONENTS for pod in tenant.pods(part)
    ]
    return {image.rpartition(":")[2] for image in images}


def test_a_release_lives_through_upgrade_rollback_removal_and_coming_back(older: Tenant) -> None:
    references = ["change/long.pdf", *SMALL]
    older.apply(REPROCESS, "changes", target={"references": references}, maxInFlight=3)
    eventually(lambda: older.published() > 0, "the first receipt is on its way")

    older.upgrade()
    under_work = _versions(older)
    status = older.wait_finished(REPROCESS, "changes")

    assert under_work == {version()}
    assert (status["state"], count(status, "done")) == ("Succeeded", len(references))
    assert older.published() == len(references)

    older.rollback()

    assert _versions(older) == {OLDER}

    older.uninstall()
    left = older.kubectl("get", "rrp", "changes", "--output=jsonpath={.status.state}")

    assert left == "Succeeded"
    assert older.kubectl("get", "pvc", "--output=name").split()
    assert not older.kubectl("get", "deployments,cronjobs,roles", "--output=name").split()

    older.apply(REPROCESS, "meanwhile", target={"references": [SMALL[0]]})
    older.install()
    adopted = older.wait_finished(REPROCESS, "changes")
    older.wait_finished(REPROCESS, "meanwhile")

    assert count(adopted, "done") == len(references)
    assert older.published() == len(references) + 1
