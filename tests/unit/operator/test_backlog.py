"""What discovery does about a receipt, and which request a repair is."""

from datetime import UTC, datetime

import pytest

from receipt_operator import backlog
from receipt_operator.backlog import Decision, Standing

WHEN = datetime(2024, 3, 14, 12, 0, tzinfo=UTC)
SHA = "a" * 64


@pytest.mark.parametrize(
    ("standing", "cached", "expected"),
    [
        pytest.param(None, False, Decision.PROCESS, id="a new receipt is read"),
        pytest.param(
            Standing("failed", 2, None), False, Decision.PROCESS, id="two tries are not enough"
        ),
        pytest.param(
            Standing("processing", 1, None), True, Decision.PROCESS, id="begun is not done"
        ),
        pytest.param(
            Standing("failed", 3, None), False, Decision.EXHAUSTED, id="three tries are enough"
        ),
        pytest.param(
            Standing("succeeded", 1, WHEN), True, Decision.SKIP, id="read and cached is done"
        ),
        pytest.param(
            Standing("review_required", 1, WHEN), True, Decision.SKIP, id="a person's turn is done"
        ),
        pytest.param(
            Standing("succeeded", 1, WHEN), False, Decision.REPAIR_CACHE, id="a lost cache"
        ),
        pytest.param(
            Standing("succeeded", 9, WHEN),
            False,
            Decision.REPAIR_CACHE,
            id="a lost cache is repaired whatever the number of tries",
        ),
    ],
)
def test_a_found_receipt_is_decided_by_its_standing_and_its_cache(
    standing: Standing | None, cached: bool, expected: Decision
) -> None:
    assert backlog.decide(standing, cached=cached) is expected


def test_a_repair_keeps_its_request_until_the_receipt_is_read_again() -> None:
    first = backlog.repair_request_id("a.pdf", sha256=SHA, completed_at=WHEN)
    later = backlog.repair_request_id("a.pdf", sha256=SHA, completed_at=WHEN.replace(hour=13))

    assert first == backlog.repair_request_id("a.pdf", sha256=SHA, completed_at=WHEN)
    assert first == "b2b01265-bd00-5c79-ac26-6b181acf6041"
    assert later != first


def test_repeating_a_batch_repeats_its_request_ids() -> None:
    batch = "0d4c9f0a-0f0e-4b59-9d5c-0c9f3f1d5a11"

    assert backlog.batch_item_request_id(batch, "a.pdf") == (
        backlog.batch_item_request_id(batch, "a.pdf")
    )
    assert backlog.batch_item_request_id(batch, "a.pdf") != (
        backlog.batch_item_request_id(batch, "b.pdf")
    )
