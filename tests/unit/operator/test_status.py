"""The whole status: its numbers, its size, and that it can be read back."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_contract import wire
from receipt_contract.errors import Reason
from receipt_contract.requests import RequestSpec
from receipt_contract.status import (
    MAX_HISTORY,
    MAX_SAMPLES,
    MAX_STATUS_BYTES,
    ConditionReason,
    EtaBasis,
    Kept,
    QueuePlace,
    RequestStatus,
)
from receipt_operator import recovery
from receipt_operator.conditions import FINAL_STATES, REFUSALS
from receipt_operator.facts import Facts, Failures, Obstacle, Pace
from receipt_operator.register.rows import Counts, Ending, Knobs, Request
from receipt_operator.status import eta_text, status_of
from receipt_operator.unready import unreadable_status
from tests.support.facts import (
    BEGAN,
    OBSTACLES,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import ACCEPTED, NOON, with_field

MANY = 100_000_000
SHOWN_LATER = {ConditionReason.ALREADY_COMPLETED}  # of an object that came after the end
SPECS = [RequestSpec.model_validate(case.spec) for case in ACCEPTED]

_numbers = st.integers(0, MANY)
_counts = st.builds(
    Counts, _numbers, _numbers, _numbers, _numbers, _numbers, _numbers, _numbers, _numbers
)
# Wide letters and what JSON escapes, so that characters and bytes differ.
_references = st.sampled_from(
    [letter * length for letter in 'aä漢😀"\n' for length in (1, 79, 400)]
)
_failures = st.builds(
    Failures,
    by_reason=st.dictionaries(st.sampled_from(Reason), st.integers(1, MANY)),
    samples=st.lists(st.tuples(_references, st.sampled_from(Reason)), max_size=40),
)
_paces = st.builds(Pace, st.floats(0, 1e6), st.none() | st.floats(0, 1e8))
_run_ids = st.text("aZ9._-", min_size=1, max_size=63)


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    observed = make_observed(with_field(runId=draw(_run_ids)))
    counts = draw(_counts)
    if draw(st.booleans()):
        result = draw(st.sampled_from(list(FINAL_STATES)))
        return make_finished(observed, result=result, counts=counts)
    make = draw(st.sampled_from([make_request, make_planning]))
    request: Request = make(
        observed,
        counts=counts,
        knobs=Knobs(suspend=draw(st.booleans())),
        ending=draw(st.none() | st.sampled_from(Ending)),
        started_at=draw(st.none() | st.just(BEGAN)),
    )
    return request


@st.composite
def _facts(draw: st.DrawFn) -> Facts:
    reason = draw(st.none() | st.sampled_from(OBSTACLES))
    past = draw(st.lists(st.tuples(_run_ids, _counts), max_size=MAX_HISTORY + 1))
    return make_facts(
        draw(_requests()),
        spec=draw(st.sampled_from(SPECS)),
        failures=draw(_failures),
        obstacle=None if reason is None else Obstacle(reason, NOON),
        pace=draw(st.none() | _paces),
        history=[
            make_finished(make_observed(with_field(runId=run_id)), counts=counts)
            for run_id, counts in past
        ],
    )


def _size(document: dict[str, Any]) -> int:
    return len(wire.dumps(document))


def _with_samples(count: int, *, reference: str, history: int = 0) -> Facts:
    past = [make_finished(make_observed(with_field(runId=f"run-{n}"))) for n in range(history)]
    return make_facts(
        make_request(counts=Counts(failed=count)),
        failures=Failures(
            by_reason={Reason.CORRUPT: count},
            samples=[(f"{number}{reference}", Reason.CORRUPT) for number in range(count)],
        ),
        history=past,
    )


@given(_facts())
def test_g7_every_status_is_valid_and_within_four_kibibytes(facts: Facts) -> None:
    document = status_of(facts)

    assert _size(document) <= MAX_STATUS_BYTES
    assert RequestStatus.model_validate(document).document() == document


@given(_facts())
def test_what_gives_way_is_samples_then_history_and_never_a_condition(facts: Facts) -> None:
    without_samples = replace(facts.failures, samples=())
    bare = status_of(replace(facts, history=(), failures=without_samples))

    document = status_of(facts)
    assert document["conditions"] == bare["conditions"]
    kept = len(document.get("history", ()))
    if kept < min(len(facts.history), MAX_HISTORY):
        assert not document.get("failures", {}).get("samples")


@given(_facts())
def test_g4_a_hundred_percent_is_shown_only_when_finished(facts: Facts) -> None:
    document = status_of(facts)

    request = facts.request
    whole = request.finished and request.result not in REFUSALS
    assert (document["progress"]["percent"] == 100) is whole


@pytest.mark.parametrize("count", [1, 19, 20, 40])
def test_samples_fill_what_is_left(count: int) -> None:
    few = status_of(_with_samples(count, reference="/a.png"))["failures"]["samples"]
    long = status_of(_with_samples(count, reference="x" * 400, history=5))

    assert len(few) == min(count, MAX_SAMPLES)
    sample = long["failures"]["samples"][0]
    assert len(sample["reference"]) == 80
    shown = len(long["failures"]["samples"])
    if shown < min(count, MAX_SAMPLES):
        assert _size(long) + _size(sample) + 1 > MAX_STATUS_BYTES


def test_history_has_the_latest_five() -> None:
    past = [make_finished(make_observed(with_field(runId=f"run-{n}"))) for n in range(6)]

    shown = status_of(make_facts(history=past))["history"]

    assert [one["runId"] for one in shown] == ["run-0", "run-1", "run-2", "run-3", "run-4"]


@pytest.mark.parametrize(
    ("counts", "total", "percent"),
    [
        pytest.param(Counts(), 0, 0, id="no receipts"),
        pytest.param(Counts(planned=3), 3, 0, id="none ended"),
        pytest.param(Counts(planned=2, done=1), 3, 33, id="rounded down"),
        pytest.param(Counts(planned=1, done=1, failed=1, skipped=1), 4, 75, id="all that ended"),
        pytest.param(Counts(planned=1, done=999), 1000, 99, id="almost all"),
        pytest.param(Counts(done=1000), 1000, 99, id="all, and not finished yet"),
    ],
)
def test_percent_of_an_open_request(counts: Counts, total: int, percent: int) -> None:
    request = make_request(counts=counts, total=total)

    assert status_of(make_facts(request))["progress"]["percent"] == percent


def test_a_plan_that_grows_shows_what_was_found_so_far() -> None:
    progress = status_of(make_facts(make_planning(counts=Counts(planned=7))))["progress"]

    assert progress["total"] == 7
    assert progress["totalIsFinal"] is False
    assert progress["summary"] == "0/7"


def test_a_problem_keeps_the_time_since_which_it_stands() -> None:
    later = NOON + timedelta(minutes=5)
    blocked = Obstacle(ConditionReason.QUEUE_FULL, NOON)
    first = status_of(make_facts(obstacle=blocked))

    again = make_facts(
        observed=make_observed(status=first), now=later, obstacle=replace(blocked, since=later)
    )
    other = replace(again, obstacle=Obstacle(ConditionReason.BROKER_UNAVAILABLE, later))

    assert status_of(again) == first
    assert status_of(other)["publish"]["lastProblemTime"] == "2026-05-04T12:05:00Z"


def test_effective_values_are_the_specs_and_else_the_operators() -> None:
    plain = status_of(make_facts())["effective"]
    chosen = make_observed(with_field(priority="High", maxInFlight=3))

    assert plain == {
        "target": "2024-03/shop.png",
        "priority": "Normal",
        "maxInFlight": 100,
        "dryRun": False,
        "rerunPolicy": "NewRunId",
    }
    effective = status_of(make_facts(make_request(chosen), observed=chosen))["effective"]
    assert (effective["priority"], effective["maxInFlight"]) == ("High", 3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "~5s"),
        (12, "~10s"),
        (58, "~60s"),
        (60, "~1m"),
        (840, "~14m"),
        (3599, "~60m"),
        (3600, "~1h00m"),
        (11_400, "~3h10m"),
        (86_399, "~24h00m"),
        (187_200, "~2d4h"),
        (1e8, "~1157d10h"),
    ],
)
def test_time_left_is_rounded_for_people(seconds: float, text: str) -> None:
    assert eta_text(seconds) == text


@pytest.mark.parametrize(
    ("pace", "rate"),
    [
        pytest.param(None, {"perMinute": "0", "eta": "-"}, id="nothing to go by"),
        pytest.param(Pace(0.0, None), {"perMinute": "0", "eta": "-"}, id="standing still"),
        pytest.param(
            Pace(12.54, 840.0),
            {"perMinute": "12.5", "eta": "~14m", "basis": "CurrentRate"},
            id="at the pace of now",
        ),
        pytest.param(
            Pace(0.0, 840.0, EtaBasis.EARLIER_RUNS),
            {"perMinute": "0", "eta": "~14m", "basis": "EarlierRuns"},
            id="at the pace of an earlier run",
        ),
    ],
)
def test_the_rate(pace: Pace | None, rate: dict[str, str]) -> None:
    assert status_of(make_facts(pace=pace))["rate"] == rate


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        pytest.param([], "Queued", id="none yet"),
        pytest.param([{"type": "Later"}, 7, None], "Queued", id="some nobody can read"),
    ],
)
def test_what_stood_there_before_is_read_as_far_as_it_can(conditions: Any, state: str) -> None:
    observed = make_observed(status={"conditions": conditions})

    assert status_of(make_facts(observed=observed))["state"] == state


def test_g6_the_answer_to_an_unreadable_spec_is_valid_and_stable() -> None:
    first = unreadable_status(make_observed(generation=4), NOON)
    again = unreadable_status(make_observed(generation=4, status=first), NOON + timedelta(days=1))

    assert RequestStatus.model_validate(first).document() == first
    assert first["observedGeneration"] == 4
    assert first["state"] == "Invalid"
    assert again == first


@pytest.mark.parametrize("result", [one for one in FINAL_STATES if one not in SHOWN_LATER], ids=str)
def test_g3_a_finished_status_is_read_back_and_shown_as_it_was(result: ConditionReason) -> None:
    counts = Counts() if result in REFUSALS else Counts(done=2, failed=1, skipped=1, confirmed=3)
    request = make_finished(
        result=result,
        counts=replace(counts, publications=counts.confirmed + 1),
        accepted_at=None if result in REFUSALS else BEGAN,
        summary={"by_reason": {"corrupt": 1}, "samples": [["x" * 90 + ".png", "corrupt"]]},
    )
    shown = status_of(make_facts(request))

    frozen = recovery.from_status(shown, request.request_id)
    assert frozen is not None
    recovered = make_finished(
        result=frozen.result,
        counts=replace(
            frozen.counts,
            confirmed=frozen.summary["confirmed"],
            publications=frozen.summary["publications"],
        ),
        accepted_at=frozen.accepted_at,
        started_at=frozen.started_at,
        finished_at=frozen.finished_at,
        active_seconds=frozen.active_seconds,
        summary=frozen.summary,
        total=frozen.total,
    )
    again = status_of(make_facts(recovered, observed=make_observed(status=shown)))
    assert _without_adoption(again) == _without_adoption(shown)
    assert again["run"]["adopted"] is True


def _without_adoption(status: dict[str, Any]) -> dict[str, Any]:
    """Leave out what tells who asked first."""
    accepted, *others = status["conditions"]
    assert accepted["type"] == "Accepted"
    return status | {"conditions": others, "run": status["run"] | {"adopted": None}}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"conditions": []}, id="no Finished"),
        pytest.param({"run": None}, id="no request named"),
        pytest.param({"progress": None}, id="no counts"),
        pytest.param({"state": "Done"}, id="a word of another version"),
        pytest.param({"surprise": 1}, id="a field of another version"),
        pytest.param({}, id="nothing at all"),
    ],
)
def test_a_status_that_does_not_say_all_is_not_believed(change: dict[str, Any]) -> None:
    request = make_finished()
    status = (status_of(make_facts(request)) | change) if change else {}

    assert recovery.from_status(status, request.request_id) is None


def test_a_finished_status_without_a_result_of_ours_is_not_believed() -> None:
    request = make_finished()
    status = status_of(make_facts(request))
    for condition in status["conditions"]:
        condition["reason"] = "Running"

    assert recovery.from_status(status, request.request_id) is None


def test_g3_what_was_complete_before_an_object_came_is_read_back_as_complete() -> None:
    restored = replace(make_observed(uid="another"), created_at=NOON + timedelta(hours=1))
    request = make_finished()
    shown = status_of(make_facts(request, observed=restored))

    frozen = recovery.from_status(shown, request.request_id)

    assert frozen is not None
    assert frozen.result is ConditionReason.COMPLETED


def test_the_place_of_a_request_is_shown_while_it_waits() -> None:
    place = QueuePlace(position=2, ahead=300)

    assert status_of(make_facts(place=place))["queue"] == {"position": 2, "ahead": 300}
    assert "queue" not in status_of(make_facts(make_finished(), place=place))


def test_what_keeps_an_object_is_among_the_values_in_force() -> None:
    status = status_of(make_facts(kept=Kept.DELETION_OFF))

    assert status["effective"]["keptBecause"] == "DeletionOff"
