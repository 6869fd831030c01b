"""The examples, by the pods that the chart makes."""

import json
from decimal import Decimal

import pytest

from dev import folders, samples
from dev.kubernetes.kubectl import KubectlError
from receipt_contract.requests import Kind
from tests.e2e.ground import closing
from tests.e2e.tenant import LOADER, RELEASE, Tenant, eventually
from tests.support.receipts import small_receipt

EXAMPLES = folders.CHECKOUT / "examples"
REPROCESS, REBUILD = Kind.RECEIPT_REPROCESS, Kind.CACHE_REBUILD


@pytest.fixture(scope="module")
def running(tenant: Tenant) -> Tenant:
    """Give the namespace with the release installed."""
    tenant.install()
    tenant.watch_messages()
    return tenant


def test_everything_is_ready_once_the_installation_returns(running: Tenant) -> None:
    listed = json.loads(running.kubectl("get", "deployments", "--output=json"))["items"]
    ready = {one["metadata"]["name"]: one["status"].get("readyReplicas") for one in listed}

    assert ready == {f"{RELEASE}-operator": 1, f"{RELEASE}-worker": 1, f"{RELEASE}-collector": 2}


def test_the_examples_end_as_they_say_with_what_is_printed_on_the_receipts(
    running: Tenant,
) -> None:
    for example in ("receipt-reprocess", "receipt-reprocess-many"):
        running.kubectl("apply", f"--filename={EXAMPLES / example}.yaml")
    clear = running.wait_finished(REPROCESS, "lakeside-grocery")
    damaged = running.wait_finished(REPROCESS, "spring-receipts")
    running.kubectl("apply", f"--filename={EXAMPLES / 'cache-rebuild.yaml'}")
    rebuilt = running.wait_finished(REBUILD, "april-cache")

    states = [status["state"] for status in (clear, damaged, rebuilt)]
    assert states == ["Succeeded", "PartiallyFailed", "Succeeded"]
    assert [one["reason"] for one in damaged["failures"]["samples"]] == ["corrupt"]
    expected = json.loads(samples.EXPECTED.read_text(encoding="utf-8"))
    rows = running.rows("SELECT source_reference, total FROM budget.receipt_evidence")
    read = {row["source_reference"]: row["total"] for row in rows}
    for reference in ("2024-03/lakeside-grocery.png", "2024-05/station-cafe.jpg"):
        assert read[reference] == Decimal(expected[reference]["total"])


def test_g3_a_request_applied_again_or_anew_sends_nothing(running: Tenant) -> None:
    example = f"--filename={EXAMPLES / 'receipt-reprocess.yaml'}"
    running.kubectl("apply", example)
    first = running.wait_finished(REPROCESS, "lakeside-grocery")
    sent = running.published()

    running.kubectl("delete", example)
    running.kubectl("create", example)
    again = running.wait_finished(REPROCESS, "lakeside-grocery")

    assert again["progress"] == first["progress"]
    assert running.published() == sent


def test_the_release_finds_itself_well(running: Tenant) -> None:
    said = running.test()

    assert "Succeeded" in said
    assert "failed" not in said.partition("POD LOGS")[2]


def test_the_image_of_ledger_says_that_it_reads_no_receipts(running: Tenant) -> None:
    command = ("ledger", "receipts", "extract", "/data")

    with pytest.raises(KubectlError, match="as one that reads no receipts may"):
        running.kubectl("exec", LOADER, "--", *command)


def test_a_schedule_publishes_what_was_never_read_and_others_tidy_up(running: Tenant) -> None:
    running.put({"2024-06/new.png": small_receipt(1).content})
    published = running.run_schedule("publisher")
    for component in ("topology-again", "prune"):
        running.run_schedule(component)

    assert "2024-06/new.png" in published or '"published"' in published
    eventually(
        lambda: running.rows(
            "SELECT FROM budget.receipt_evidence WHERE source_reference = '2024-06/new.png'"
        ),
        "the new receipt is read",
    )


def test_a_process_says_what_it_waits_for_where_the_documents_look(running: Tenant) -> None:
    [pod] = running.pods("operator")
    place = f"/api/v1/namespaces/{running.namespace}/pods/{pod['metadata']['name']}:8080/proxy"

    closing.append(running.kubectl("get", "pods,crb,rrp"))
    assert running.kubectl("get", "--raw", f"{place}/readyz").strip() == "ok"
    assert "receipts_" in running.kubectl("get", "--raw", f"{place}/metrics")
