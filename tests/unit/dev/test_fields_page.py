"""The page of all fields: its examples are taken, and it names whatever the operator may say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from dev import advice, fields_page
from receipt_contract.requests import RequestSpec
from receipt_contract.status import Condition, ConditionReason, ConditionStatus, ConditionType
from receipt_operator import conditions
from receipt_operator.facts import Facts, Obstacle
from receipt_operator.register.rows import Counts, Ending, Request
from tests.support.facts import (
    BEGAN,
    OBSTACLES,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import NOON

ONE = {"target": {"reference": "a.png"}}
SOME = Counts(planned=3, published=2, confirmed=2)
ALL_SENT = Counts(published=2, confirmed=2)


def _at(path: str, value: Any) -> dict[str, Any]:
    """Return the spec that has a value at a path, and a target in any case."""
    spec: Any = value
    for name in reversed(path.split(".")):
        spec = {name: spec}
    return {**ONE, **spec}


@pytest.mark.parametrize(("path", "text"), fields_page.EXAMPLES.items(), ids=fields_page.EXAMPLES)
def test_an_example_is_taken_as_it_stands(path: str, text: str) -> None:
    document = RequestSpec.model_validate(_at(path, yaml.safe_load(text))).document()

    assert path.partition(".")[0] in document


def _suspended(request: Request) -> Request:
    return replace(request, knobs=replace(request.knobs, suspend=True), active_since=None)


def _facts() -> Mapping[str, Facts]:
    """Return something true about a request for each thing that can be."""
    sending = make_request(counts=SOME, started_at=BEGAN)
    of_another = make_observed(uid="another")
    return {
        "planning": make_facts(make_planning()),
        "waiting for another run": replace(make_facts(make_planning()), queued=True),
        "waiting for a slot": make_facts(),
        "sending": make_facts(sending),
        "all sent": make_facts(make_request(counts=ALL_SENT, started_at=BEGAN)),
        "suspended": make_facts(_suspended(sending)),
        "adopted": make_facts(make_request(), observed=of_another),
        "ending": make_facts(replace(sending, ending=Ending.CANCELLED, ending_since=NOON)),
        **{f"ended: {reason}": _ended(reason) for reason in conditions.FINAL_STATES},
        **{
            f"stalled: {reason}": make_facts(sending, obstacle=Obstacle(reason, NOON))
            for reason in OBSTACLES
        },
    }


def _ended(result: ConditionReason) -> Facts:
    cut_off = Counts() if result in conditions.REFUSALS else Counts(done=1, failed=3, confirmed=2)
    return make_facts(make_finished(make_observed(), result=result, counts=cut_off))


def _documented() -> set[tuple[ConditionType, ConditionStatus, ConditionReason]]:
    return {
        (type_, status, reason)
        for type_, about in advice.CONDITIONS.items()
        for status, reasons in (
            (conditions.TRUE, about.true),
            (conditions.FALSE, about.false),
            (conditions.UNKNOWN, about.unknown),
        )
        for reason in reasons
    }


def _said(facts: Facts) -> list[Condition]:
    before = conditions.conditions_of(make_facts(_suspended(make_request())), ())
    return [*conditions.conditions_of(facts, ()), *conditions.conditions_of(facts, before)]


@pytest.mark.parametrize("facts", [pytest.param(one, id=about) for about, one in _facts().items()])
def test_what_the_operator_says_is_on_the_page(facts: Facts) -> None:
    said = {(one.type, one.status, one.reason) for one in _said(facts)}

    assert said - _documented() == set()
