"""Reading dead letters."""

from collections.abc import Callable, Mapping

import pytest

from receipt_collector import failures
from receipt_collector.failures import Failure
from receipt_contract import results, work
from receipt_contract.errors import Reason
from receipt_contract.topology import REASON_HEADER
from receipt_contract.work import CacheRebuildWork, ProcessWork
from tests.support.results import make_pass, make_run, reference, request_id, run_uuid, sha

V1 = work.encode(ProcessWork(source_sha256=sha(), source_reference=reference()))
V3 = work.encode(
    CacheRebuildWork(source_sha256=sha(), source_reference=reference(), request_id=request_id())
)


def cut_off(queue: str) -> dict[str, object]:
    return {"x-death": [{"reason": "delivery_limit", "queue": queue, "count": 1}]}


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        pytest.param({REASON_HEADER: "corrupt"}, Reason.CORRUPT, id="our header"),
        pytest.param({}, Reason.INTERNAL_ERROR, id="no header"),
        pytest.param({REASON_HEADER: "nonsense"}, Reason.INTERNAL_ERROR, id="no reason of ours"),
        pytest.param({REASON_HEADER: 7}, Reason.INTERNAL_ERROR, id="a header of another type"),
        pytest.param(
            cut_off("receipts.v1.work"), Reason.WORKER_CRASHED, id="the broker cut it off"
        ),
        pytest.param(
            {**cut_off("receipts.v1.work"), REASON_HEADER: "timeout"},
            Reason.WORKER_CRASHED,
            id="the broker's word is younger than the header of an earlier attempt",
        ),
        pytest.param(
            {**cut_off("receipts.v1.retry"), REASON_HEADER: "timeout"},
            Reason.TIMEOUT,
            id="a death elsewhere means nothing",
        ),
        pytest.param({"x-death": "nonsense"}, Reason.INTERNAL_ERROR, id="a broken x-death"),
    ],
)
def test_the_reason_of_a_dead_letter(headers: dict[str, object], reason: Reason) -> None:
    assert failures.read_work(V1, headers).row.reason is reason


def test_a_dead_v1_keeps_its_body_and_ends_the_normal_reading() -> None:
    failure = failures.read_work(V1, {REASON_HEADER: "corrupt"})

    assert failure.ends_reading
    assert not failure.ends_item
    assert failure.row.body == V1
    assert failure.row.message_id == f"receipt.v1:{sha()}"


def test_a_dead_v3_ends_its_item() -> None:
    failure = failures.read_work(V3, {REASON_HEADER: "corrupt"})

    assert (failure.ends_reading, failure.ends_item) == (False, True)
    assert failure.row.request_id == request_id()


def test_g8_a_dead_event_keeps_identities_and_no_body() -> None:
    body = results.encode(make_run(request=1, attempt=3))

    row = failures.read_result(body, {REASON_HEADER: "internal_error"}).row

    assert row.body is None
    assert row.body_bytes == len(body)
    assert (row.run_uuid, row.request_id, row.attempts) == (run_uuid(), request_id(), 3)
    assert "CORNER" not in repr(row)


def test_a_dead_pass_ends_nothing() -> None:
    failure = failures.read_result(results.encode(make_pass()), {REASON_HEADER: "run_unknown"})

    assert (failure.ends_reading, failure.ends_item) == (False, False)
    assert failure.row.pass_id == 1


@pytest.mark.parametrize(
    ("read", "invalid"),
    [
        (failures.read_work, Reason.INVALID_MESSAGE),
        (failures.read_result, Reason.INVALID_EVENT),
    ],
    ids=["work", "results"],
)
def test_g8_an_unreadable_body_leaves_hash_and_size(
    read: Callable[[bytes, Mapping[str, object]], Failure], invalid: Reason
) -> None:
    row = read(b"secret 4111 1111 1111 1111", {}).row

    assert row.reason is invalid
    assert row.body_bytes == 26
    assert "4111" not in repr(row)


def test_the_same_message_finds_the_same_row() -> None:
    once = failures.read_work(V1, {REASON_HEADER: "corrupt"}).row
    again = failures.read_work(V1.replace(b'"attempt":1', b'"attempt":3'), {}).row
    other = failures.read_work(V1.replace(b"2026/1.png", b"2026/9.png"), {}).row

    assert once.failure_id == again.failure_id != other.failure_id
