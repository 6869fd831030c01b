"""Pods that are killed, drained and scaled away while they work (promises G1 and G2)."""

import pytest

from dev.kubernetes.kubectl import KubectlError
from receipt_contract.requests import Kind
from receipt_contract.topology import RESULTS_SIDE
from tests.e2e.tenant import RELEASE, Tenant, eventually
from tests.support.amqp import visiting
from tests.support.pipeline import count
from tests.support.receipts import long_receipt, small_receipt

REPROCESS = Kind.RECEIPT_REPROCESS
PAGES = 6
COMMANDS = ("sh", "-c", "cat /proc/[0-9]*/comm")


@pytest.fixture(scope="module")
def running(tenant: Tenant) -> Tenant:
    """Give the namespace with the release installed; one collector, so that it can be drained."""
    tenant.install(collector={"replicas": 1})
    tenant.watch_messages()
    return tenant


def _is_reading(tenant: Tenant) -> bool:
    [pod] = tenant.pods("worker")
    try:
        return "tesseract" in tenant.kubectl("exec", pod["metadata"]["name"], "--", *COMMANDS)
    except KubectlError:  # not started yet
        return False


def _ask(tenant: Tenant, name: str, *references: str) -> None:
    tenant.apply(REPROCESS, name, target={"references": list(references)})


def _effects(tenant: Tenant, *references: str) -> int:
    """Count what was saved of receipts."""
    query = "SELECT FROM budget.receipt_evidence WHERE source_reference = ANY(%(references)s)"
    return len(tenant.rows(query, {"references": list(references)}))


def _waiting_results(tenant: Tenant) -> int:
    with visiting(tenant.places.broker) as visitor:
        return visitor.ready(RESULTS_SIDE.work)


def test_g1_g2_a_worker_killed_in_mid_reading_is_followed_by_one_that_reads_it_once(
    running: Tenant,
) -> None:
    running.put({"killed/long.pdf": long_receipt(1, pages=PAGES)})
    sent = running.published()
    _ask(running, "killed", "killed/long.pdf")
    eventually(lambda: _is_reading(running), "the worker reads")
    [killed] = running.pods("worker")

    running.kubectl("delete", "pod", killed["metadata"]["name"], "--grace-period=0", "--force")
    status = running.wait_finished(REPROCESS, "killed")

    assert (status["state"], count(status, "done")) == ("Succeeded", 1)
    assert _effects(running, "killed/long.pdf") == 1
    assert running.published() == sent + 1


def test_g1_a_drained_node_lets_the_receipt_in_hand_be_read_to_its_end(running: Tenant) -> None:
    files = {f"drained/{number}.png": small_receipt(number).content for number in range(3)}
    running.put({"drained/long.pdf": long_receipt(2, pages=PAGES), **files})
    references = ["drained/long.pdf", *files]
    _ask(running, "drained", *references)
    eventually(lambda: _is_reading(running), "the worker reads")

    selector = f"--pod-selector=app.kubernetes.io/instance={RELEASE}"
    for node in running.kubectl("get", "nodes", "--output=name").split():
        running.kubectl("drain", node, selector, "--delete-emptydir-data", "--timeout=110s")
    for node in running.kubectl("get", "nodes", "--output=name").split():
        running.kubectl("uncordon", node)
    status = running.wait_finished(REPROCESS, "drained")

    assert status["state"] == "Succeeded"
    assert _effects(running, *references) == len(references)


def test_g1_results_wait_for_a_collector_that_was_scaled_away(running: Tenant) -> None:
    files = {f"waiting/{number}.png": small_receipt(10 + number).content for number in range(3)}
    running.put(files)
    collector = f"deployment/{RELEASE}-collector"
    running.kubectl("scale", collector, "--replicas=0")
    gone = ("--for=delete", "--selector=app.kubernetes.io/component=collector", "--timeout=100s")
    running.kubectl("wait", "pods", *gone)

    _ask(running, "waiting", *files)
    eventually(lambda: _waiting_results(running) > 0, "results wait")
    ended = count(running.status(REPROCESS, "waiting"), "done")
    running.kubectl("scale", collector, "--replicas=1")
    status = running.wait_finished(REPROCESS, "waiting")

    assert ended == 0
    assert (status["state"], count(status, "done")) == ("Succeeded", len(files))
