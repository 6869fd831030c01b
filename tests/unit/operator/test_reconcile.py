"""What is done about an object, for every way in which its request is known or not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from receipt_contract.requests import Kind
from receipt_contract.status import ConditionReason
from receipt_operator import reconcile
from receipt_operator.observed import Observed, packed
from receipt_operator.reconcile import Act, Brake, Decision
from receipt_operator.register.rows import Counts, Knobs, ObjectKey, Request
from receipt_operator.status import status_of
from tests.support.facts import (
    CLUSTER,
    KEY,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
    make_wanted,
)
from tests.support.requests import NOON, for_reference, with_field

EARLIER, LATER = NOON - timedelta(hours=1), NOON + timedelta(hours=1)


def _decide(observed: Observed, *rows: Request) -> Decision:
    return reconcile.decide(observed, make_wanted(observed), rows, NOON)


def _asking(**fields: Any) -> Observed:
    return make_observed(with_field(**fields))


def test_an_unknown_request_is_claimed() -> None:
    observed = make_observed()

    decision = _decide(observed)

    assert decision.act is Act.CLAIM
    assert decision.writes
    assert decision.claim.request_id == make_wanted(observed).request_id


@pytest.mark.parametrize(
    "request_", [make_request(), make_planning()], ids=["an open one", "one being planned"]
)
def test_a_known_unfinished_request_goes_on_without_a_write(request_: Request) -> None:
    decision = _decide(make_observed(), request_)

    assert decision.act is Act.GO_ON
    assert not decision.writes


def test_g3_a_finished_request_is_shown_without_a_write() -> None:
    decision = _decide(make_observed(), make_finished())

    assert decision.act is Act.SHOW
    assert not decision.writes


def test_g3_the_object_of_another_uid_finds_the_same_request() -> None:
    decision = _decide(make_observed(uid="uid-2"), make_finished())

    assert decision.act is Act.SHOW


def test_an_object_that_reruns_when_recreated_makes_its_own_request() -> None:
    first = make_observed(with_field(rerunPolicy="OnRecreate"))
    second = make_observed(with_field(rerunPolicy="OnRecreate"), uid="uid-2")

    decision = _decide(second, make_finished(first))

    assert decision.act is Act.CLAIM


@pytest.mark.parametrize(
    ("fields", "act"),
    [
        pytest.param({"startBefore": EARLIER.isoformat()}, Act.REFUSE, id="a moment ago: refused"),
        pytest.param({"startBefore": NOON.isoformat()}, Act.CLAIM, id="this moment: claimed"),
        pytest.param({"startBefore": LATER.isoformat()}, Act.CLAIM, id="in an hour: claimed"),
    ],
)
def test_start_before_is_judged_when_a_request_is_first_seen(
    fields: dict[str, Any], act: Act
) -> None:
    decision = _decide(_asking(**fields))

    assert decision.act is act
    if act is Act.REFUSE:
        assert decision.frozen is not None
        assert decision.frozen.result is ConditionReason.EXPIRED
        assert decision.frozen.counts == Counts()


@pytest.mark.parametrize(
    ("row", "act"),
    [
        pytest.param(make_request, Act.GO_ON, id="an open one goes on"),
        pytest.param(make_finished, Act.SHOW, id="a finished one is shown"),
    ],
)
def test_start_before_is_not_judged_again(row: Any, act: Act) -> None:
    observed = _asking(startBefore=EARLIER.isoformat())

    assert _decide(observed, row(observed)).act is act


def test_a_lost_request_is_recovered_from_its_own_status() -> None:
    observed = make_observed()
    status = status_of(make_facts(make_finished(), observed=observed))

    decision = _decide(make_observed(status=status))

    assert decision.act is Act.RECOVER
    assert decision.frozen is not None
    assert decision.frozen.result is ConditionReason.COMPLETED
    assert decision.frozen.counts.done == 1


def test_a_lost_request_is_recovered_even_after_its_start_before() -> None:
    observed = _asking(startBefore=EARLIER.isoformat())
    status = status_of(make_facts(make_finished(observed), observed=observed))

    decision = _decide(make_observed(observed.spec, status=status))

    assert decision.act is Act.RECOVER


def test_g1_a_lost_request_that_was_begun_in_time_does_not_expire() -> None:
    observed = _asking(startBefore=EARLIER.isoformat())
    status = status_of(make_facts(make_request(observed), observed=observed))

    decision = _decide(make_observed(observed.spec, status=status))

    assert decision.act is Act.CLAIM


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(with_field(runId="two"), id="another runId"),
        pytest.param(for_reference("other.png"), id="another target"),
        pytest.param(with_field(dryRun=True), id="a dry run instead"),
    ],
)
def test_a_status_about_another_request_recovers_nothing(asked: dict[str, Any]) -> None:
    status = status_of(make_facts(make_finished()))

    assert _decide(make_observed(asked, status=status)).act is Act.CLAIM


def test_a_status_of_an_unfinished_request_recovers_nothing() -> None:
    status = status_of(make_facts(make_request()))

    assert _decide(make_observed(status=status)).act is Act.CLAIM


def test_what_an_object_does_not_ask_for_any_more_is_parked() -> None:
    old = make_request(make_observed(with_field(runId="one")))

    decision = _decide(_asking(runId="two"), old)

    assert decision.act is Act.CLAIM
    assert decision.park == (old.request_id,)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(make_finished(_asking(runId="one")), id="a finished one"),
        pytest.param(make_request(_asking(runId="one"), parked=True), id="one parked already"),
        pytest.param(
            make_request(
                make_observed(
                    with_field(runId="one"),
                    key=ObjectKey(Kind.CACHE_REBUILD, KEY.namespace, KEY.name),
                )
            ),
            id="one of another object",
        ),
    ],
)
def test_these_are_not_parked(row: Request) -> None:
    assert _decide(_asking(runId="two"), row).park == ()


def test_finished_requests_still_park_what_else_the_object_left_behind() -> None:
    left_behind = make_request(_asking(runId="two"))
    asked = _asking(runId="one")

    decision = _decide(asked, make_finished(asked), left_behind)

    assert decision.act is Act.SHOW
    assert decision.park == (left_behind.request_id,)
    assert decision.writes


def test_a_retry_lets_the_run_it_looks_back_on_go_on() -> None:
    looked_back_on = make_request(_asking(runId="one"))
    other = make_request(_asking(runId="zero"))
    retry = make_observed({"target": {"retryFailedOf": "one"}, "runId": "two"})

    decision = _decide(retry, looked_back_on, other)

    assert decision.act is Act.CLAIM
    assert decision.park == (other.request_id,)
    assert decision.unpark == ()


def test_a_retry_wakes_the_run_it_looks_back_on_when_that_was_parked() -> None:
    parked = make_request(_asking(runId="one"), parked=True)
    retry = make_observed({"target": {"retryFailedOf": "one"}, "runId": "two"})

    decision = _decide(retry, parked, make_planning(retry))

    assert decision.unpark == (parked.request_id,)
    assert decision.writes


def test_a_parked_request_that_is_asked_for_again_goes_on() -> None:
    parked = make_request(parked=True)

    decision = _decide(make_observed(), parked)

    assert decision.act is Act.GO_ON
    assert decision.unpark == (parked.request_id,)
    assert decision.writes


@pytest.mark.parametrize(
    ("field", "value", "knob"),
    [
        ("suspend", True, "suspend"),
        ("cancel", True, "cancel"),
        ("priority", "High", "priority"),
        ("maxInFlight", 3, "max_in_flight"),
        ("activeDeadlineSeconds", 60, "active_deadline_seconds"),
        ("failureThresholdPercent", 0, "failure_threshold_percent"),
    ],
)
def test_a_changed_mutable_field_is_followed(field: str, value: object, knob: str) -> None:
    decision = _decide(_asking(**{field: value}), make_request())

    assert decision.act is Act.GO_ON
    assert decision.knobs is not None
    assert getattr(decision.knobs, knob) == value


def test_a_field_taken_back_falls_to_its_default() -> None:
    before = make_request(_asking(maxInFlight=3, suspend=True))

    decision = _decide(make_observed(), before)

    assert decision.knobs is not None
    assert decision.knobs.max_in_flight is None
    assert decision.knobs.suspend is False


def test_a_cancel_stays_when_a_replaced_object_does_not_say_it() -> None:
    cancelled = make_request(_asking(cancel=True))

    taken_back = _decide(make_observed(), cancelled)
    changed_besides = _decide(_asking(maxInFlight=3), cancelled)

    assert not taken_back.writes
    assert changed_besides.knobs is not None
    assert changed_besides.knobs.cancel is True
    assert changed_besides.knobs.max_in_flight == 3


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"target": {"newKindOfTarget": "x"}}, id="a field of a later version"),
        pytest.param({}, id="no target"),
        pytest.param(
            with_field(startBefore="9999-12-31T23:59:59-01:00"), id="a moment out of all years"
        ),
    ],
)
def test_a_spec_of_another_version_is_not_read(spec: dict[str, Any]) -> None:
    observed = make_observed()
    unreadable = replace(observed, packed_spec=packed(spec))

    assert reconcile.wanted(unreadable, CLUSTER) is None


BRAKE = Brake(first=2, namespaces=frozenset({KEY.namespace}))


@pytest.mark.parametrize(
    ("observed", "begun", "waits"),
    [
        pytest.param(make_observed(), 1, False, id="one of the first"),
        pytest.param(make_observed(), 2, True, id="beyond the first"),
        pytest.param(replace(make_observed(), approved=True), 2, False, id="approved"),
        pytest.param(make_observed(key=KEY._replace(namespace="other")), 2, False, id="elsewhere"),
    ],
)
def test_beyond_the_first_a_new_request_waits_for_approval(
    observed: Observed, begun: int, *, waits: bool
) -> None:
    braked = reconcile.braked(_decide(observed), BRAKE, begun)

    assert braked.act is Act.CLAIM
    assert braked.claim.awaiting_approval is waits


def test_g3_an_adopted_request_does_not_wait_for_approval() -> None:
    shown = status_of(make_facts(make_finished()))
    braked = reconcile.braked(_decide(make_observed(status=shown)), BRAKE, 2)

    assert braked.act is Act.RECOVER
    assert not braked.claim.awaiting_approval


@pytest.mark.parametrize(
    ("approved", "waiting", "approves"),
    [(True, True, True), (True, False, False), (False, True, False)],
    ids=["approved now", "approved long ago", "not approved"],
)
def test_an_annotation_approves_what_waits(
    *, approved: bool, waiting: bool, approves: bool
) -> None:
    observed = replace(make_observed(), approved=approved)
    request = make_planning(observed, awaiting_approval=waiting)

    decision = _decide(observed, request)

    assert decision.act is Act.GO_ON
    assert decision.approve is approves
    assert decision.writes is approves


def test_a_paused_operator_lets_every_request_wait() -> None:
    observed = make_observed(with_field(priority="High"))

    want = reconcile.wanted(observed, CLUSTER, paused=True)

    assert want is not None
    assert want.claim.knobs == Knobs(paused=True, priority="High")
    assert want.claim.knobs.stopped
    assert want.request_id == make_wanted(observed).request_id
