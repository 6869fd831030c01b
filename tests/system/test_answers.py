"""Objects that end before anything is sent: each gets its answer at once, not at the next list."""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support.pipeline import Pipeline, condition_of, holds
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS


def _is_finished(status: dict[str, Any]) -> bool:
    return holds(status, "Finished")


def test_g6_a_spec_that_the_operator_cannot_read_is_answered(running: Pipeline) -> None:
    # Within the schema, and a moment that no computer with the usual calendar can write in UTC.
    running.apply(
        REPROCESS,
        "unreadable",
        target={"reference": "a.png"},
        startBefore="9999-12-31T23:59:59-01:00",
    )
    status = running.wait(REPROCESS, "unreadable", _is_finished)

    assert status["state"] == "Invalid"
    assert status["observedGeneration"] == 1
    assert condition_of(status, "Accepted")["status"] == "False"
    assert condition_of(status, "Accepted")["reason"] == "InvalidTarget"


def test_a_spec_that_became_readable_again_goes_on(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "readable.png", first=500)
    running.apply(REPROCESS, "mended", target={"reference": "readable.png"}, suspend=True)
    running.wait(REPROCESS, "mended", lambda status: status.get("state") == "Suspended")

    running.patch(REPROCESS, "mended", startBefore="9999-12-31T23:59:59-01:00")
    refused = running.wait(REPROCESS, "mended", _is_finished)
    parked = running.rows("SELECT parked FROM work.requests WHERE name = 'mended'")
    running.patch(REPROCESS, "mended", startBefore="9999-12-31T23:59:59Z")
    status = running.wait(REPROCESS, "mended", lambda status: status.get("state") == "Suspended")

    assert refused["observedGeneration"] == 2
    assert parked == [{"parked": True}]
    assert status["observedGeneration"] == 3
    assert not holds(status, "Finished")


def test_g6_more_receipts_than_max_items_is_answered_at_once(running: Pipeline) -> None:
    write_small_receipts(running.receipts, "many/a.png", "many/b.png", first=510)
    before = running.published()

    running.apply(REPROCESS, "too-many", maxItems=1, target={"selector": {"pathPrefix": "many/"}})
    status = running.wait(REPROCESS, "too-many", _is_finished)

    assert status["state"] == "Invalid"
    assert condition_of(status, "Accepted")["reason"] == "SelectorTooLarge"
    assert running.published() == before
    assert running.rows(
        "SELECT count(*) AS items FROM work.items JOIN work.requests USING (request_id)"
        " WHERE name = 'too-many'"
    ) == [{"items": 0}]


def test_an_expired_request_is_answered(running: Pipeline) -> None:
    running.apply(
        REPROCESS, "late", target={"reference": "a.png"}, startBefore="2020-01-01T00:00:00Z"
    )
    status = running.wait(REPROCESS, "late", _is_finished)

    assert status["state"] == "Expired"
    assert condition_of(status, "Accepted")["reason"] == "Expired"
