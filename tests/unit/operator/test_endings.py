"""When a request stops, and how it ended."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from receipt_contract.errors import Reason
from receipt_contract.status import ConditionReason
from receipt_operator import endings
from receipt_operator.register.rows import Counts, Ending, ItemState, Knobs
from tests.support.facts import make_observed, make_planning, make_request
from tests.support.requests import NOON, with_field

GRACE = 600.0


def _minutes_ago(minutes: float) -> datetime:
    return NOON - timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("threshold", "counts", "ending"),
    [
        pytest.param(
            50, Counts(failed=19), None, id="nineteen of nineteen failed: too few to judge"
        ),
        pytest.param(
            50, Counts(failed=20), Ending.THRESHOLD, id="twenty of twenty failed: it stops"
        ),
        pytest.param(50, Counts(done=10, failed=10), None, id="exactly the share: it goes on"),
        pytest.param(
            50, Counts(done=10, failed=11), Ending.THRESHOLD, id="one more than the share: it stops"
        ),
        pytest.param(50, Counts(skipped=10, failed=10), None, id="skipped ones have ended as well"),
        pytest.param(0, Counts(done=20), None, id="none failed and none is allowed: it goes on"),
        pytest.param(
            0, Counts(done=99, failed=1), Ending.THRESHOLD, id="none is allowed: it stops"
        ),
        pytest.param(100, Counts(failed=99), None, id="all may fail: it goes on"),
        pytest.param(None, Counts(failed=99), None, id="no threshold: it goes on"),
    ],
)
def test_a_request_stops_when_too_many_failed(
    threshold: int | None, counts: Counts, ending: Ending | None
) -> None:
    request = make_request(counts=counts, knobs=Knobs(failure_threshold_percent=threshold))

    assert endings.begun(request, NOON) is ending


@pytest.mark.parametrize(
    ("clock", "ending"),
    [
        pytest.param(
            {"active_since": _minutes_ago(1)}, Ending.DEADLINE, id="a minute since it began: over"
        ),
        pytest.param({"active_since": _minutes_ago(0.9)}, None, id="a little less: not yet"),
        pytest.param(
            {"active_seconds": 59.0, "active_since": None, "created_at": _minutes_ago(900)},
            None,
            id="time while it was suspended or parked does not count",
        ),
        pytest.param(
            {"active_seconds": 50.0, "active_since": _minutes_ago(0.2)},
            Ending.DEADLINE,
            id="time before and after a pause is added up",
        ),
        pytest.param(
            {"active_seconds": 0.0, "active_since": NOON + timedelta(minutes=5)},
            None,
            id="a clock that went back takes nothing away",
        ),
    ],
)
def test_a_deadline_counts_active_time_only(clock: dict[str, Any], ending: Ending | None) -> None:
    request = make_request(knobs=Knobs(active_deadline_seconds=60), **clock)

    assert endings.begun(request, NOON) is ending


def test_a_cancel_comes_before_everything_else() -> None:
    request = make_request(knobs=Knobs(cancel=True, active_deadline_seconds=60))

    assert endings.begun(request, NOON) is Ending.CANCELLED


def test_the_first_reason_to_stop_stands() -> None:
    request = make_request(knobs=Knobs(cancel=True), ending=Ending.DEADLINE)

    assert endings.begun(request, NOON) is None


@pytest.mark.parametrize(
    ("counts", "due"),
    [
        pytest.param(Counts(), True, id="no receipts at all"),
        pytest.param(Counts(done=1, failed=1, skipped=1), True, id="all ended"),
        pytest.param(Counts(done=9, planned=1), False, id="one waits to be sent"),
        pytest.param(Counts(done=9, publishing=1), False, id="one is uncertain"),
        pytest.param(Counts(done=9, published=1), False, id="one is on its way"),
    ],
)
def test_an_open_request_is_due_when_every_receipt_ended(counts: Counts, *, due: bool) -> None:
    request = make_request(counts=counts)

    assert endings.is_due(request, NOON, settle_grace_seconds=GRACE) is due


def test_a_plan_that_is_not_whole_is_never_due() -> None:
    request = make_planning(counts=Counts(done=5))

    assert not endings.is_due(request, NOON, settle_grace_seconds=GRACE)


def test_a_dry_run_is_due_at_once() -> None:
    request = make_request(make_observed(with_field(dryRun=True)), counts=Counts(planned=7))

    assert endings.is_due(request, NOON, settle_grace_seconds=GRACE)


def test_a_dry_run_may_not_send() -> None:
    assert not make_request(make_observed(with_field(dryRun=True))).publishable


@pytest.mark.parametrize(
    ("counts", "since", "due"),
    [
        pytest.param(Counts(planned=5), NOON, True, id="nothing is on its way: at once"),
        pytest.param(Counts(published=1), _minutes_ago(9), False, id="one is: it may still come"),
        pytest.param(Counts(published=1), _minutes_ago(10), True, id="after the grace: over"),
        pytest.param(Counts(publishing=1), _minutes_ago(9), False, id="an uncertain one may too"),
    ],
)
def test_a_stopped_request_waits_for_what_is_on_its_way(
    counts: Counts, since: datetime, *, due: bool
) -> None:
    request = make_request(counts=counts, ending=Ending.CANCELLED, ending_since=since)

    assert endings.is_due(request, NOON, settle_grace_seconds=GRACE) is due


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (Ending.CANCELLED, Reason.CANCELLED),
        (Ending.DEADLINE, Reason.DEADLINE),
        (Ending.THRESHOLD, Reason.THRESHOLD),
    ],
)
def test_what_was_left_fails_for_the_ending_and_what_was_sent_as_unsettled(
    ending: Ending, reason: Reason
) -> None:
    reasons = endings.reasons_for_the_rest(ending)

    assert reasons == {ItemState.PLANNED: reason, ItemState.PUBLISHED: Reason.UNSETTLED}


@pytest.mark.parametrize(
    ("ending", "counts", "result"),
    [
        pytest.param(None, Counts(done=2), ConditionReason.COMPLETED, id="all done"),
        pytest.param(
            None, Counts(done=1, skipped=9), ConditionReason.COMPLETED, id="done and skipped"
        ),
        pytest.param(None, Counts(skipped=2), ConditionReason.NOTHING_TO_DO, id="all skipped"),
        pytest.param(None, Counts(), ConditionReason.NOTHING_TO_DO, id="no receipts"),
        pytest.param(
            None, Counts(done=1, failed=1), ConditionReason.PARTIALLY_FAILED, id="some failed"
        ),
        pytest.param(None, Counts(failed=2), ConditionReason.FAILED, id="all failed"),
        pytest.param(
            None, Counts(failed=1, skipped=1), ConditionReason.FAILED, id="none done, one failed"
        ),
        pytest.param(
            Ending.CANCELLED,
            Counts(done=1, failed=1),
            ConditionReason.CANCELLED,
            id="cancelled with something left",
        ),
        pytest.param(
            Ending.CANCELLED,
            Counts(done=2),
            ConditionReason.COMPLETED,
            id="cancelled, and all came back done after all",
        ),
        pytest.param(
            Ending.DEADLINE, Counts(failed=1), ConditionReason.DEADLINE_EXCEEDED, id="too late"
        ),
        pytest.param(
            Ending.THRESHOLD,
            Counts(failed=20),
            ConditionReason.FAILURE_THRESHOLD,
            id="too many failed",
        ),
    ],
)
def test_the_result_follows_from_the_final_counts(
    ending: Ending | None, counts: Counts, result: ConditionReason
) -> None:
    assert endings.result_of(make_request(ending=ending), counts) is result


@pytest.mark.parametrize("fields", [{}, {"dryRun": True}], ids=["a request", "a dry run"])
def test_g4_cancelled_before_anything_was_found_is_no_success(fields: dict[str, Any]) -> None:
    observed = make_observed(with_field(cancel=True, **fields))
    request = make_planning(observed, ending=Ending.CANCELLED)

    assert endings.result_of(request, Counts()) is ConditionReason.CANCELLED


def test_a_dry_run_says_so_when_something_matched() -> None:
    dry = make_request(make_observed(with_field(dryRun=True)))

    assert endings.result_of(dry, Counts(skipped=7)) is ConditionReason.DRY_RUN
    assert endings.result_of(dry, Counts()) is ConditionReason.NOTHING_TO_DO
