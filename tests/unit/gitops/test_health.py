"""The health script, run alone on one whole object for each thing that can be true."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from dev.gitops import customizations
from receipt_contract.status import ConditionReason
from receipt_operator import conditions
from receipt_operator.facts import Obstacle
from receipt_operator.register.rows import Counts, Ending
from tests.support import lua, stored
from tests.support.facts import (
    BEGAN,
    OBSTACLES,
    make_facts,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import NOON

FAILURES = frozenset(conditions.FINAL_STATES) - conditions.SUCCESSES - {ConditionReason.EXPIRED}


class Case(NamedTuple):
    """An object, and what Argo CD has to show for it."""

    about: str
    document: dict[str, Any]
    status: str
    message: str


def _with_status(**changes: Any) -> dict[str, Any]:
    """Return a finished object of which only this is different."""
    return stored.finished(ConditionReason.COMPLETED) | changes


def _sending() -> Any:
    return make_request(counts=Counts(planned=3, published=2, confirmed=2), started_at=BEGAN)


def _all_sent() -> Any:
    return make_request(counts=Counts(published=2, confirmed=2), started_at=BEGAN)


def _suspended_while_cancelled() -> dict[str, Any]:
    observed = make_observed({"target": {"reference": "a.png"}, "suspend": True, "cancel": True})
    request = stored.suspended(make_request(observed, counts=Counts(published=1, confirmed=1)))
    ending = replace(request, ending=Ending.CANCELLED, ending_since=NOON)
    return stored.as_stored(make_facts(ending, observed=observed))


def _resumed() -> dict[str, Any]:
    before = stored.as_stored(make_facts(stored.suspended(_sending())))
    return stored.as_stored(make_facts(_sending(), observed=make_observed(status=before["status"])))


def _finished_after_suspension() -> dict[str, Any]:
    document = stored.finished(ConditionReason.CANCELLED, counts=stored.SOME_FAILED)
    said = {"type": "Suspended", "status": "True", "reason": "UserRequested", "message": "."}
    document["status"]["conditions"].append(said)  # never written so, and harmless all the same
    return document


CASES = (
    Case(
        "no status at all",
        {"metadata": {"generation": 1}, "spec": {}},
        "Progressing",
        "Waiting for the operator",
    ),
    Case(
        "an object just created",
        stored.blank(make_observed()),
        "Progressing",
        "Waiting for the operator",
    ),
    Case(
        "a finished object whose spec was changed since",
        _with_status(metadata={"generation": 2}),
        "Progressing",
        "Waiting for the operator",
    ),
    Case("planning", stored.as_stored(make_facts(make_planning())), "Progressing", "Planning"),
    Case("queued", stored.as_stored(make_facts()), "Progressing", "Queued"),
    Case("publishing", stored.as_stored(make_facts(_sending())), "Progressing", "Publishing"),
    Case("all sent", stored.as_stored(make_facts(_all_sent())), "Progressing", "WaitingForResults"),
    Case(
        "suspended",
        stored.as_stored(make_facts(stored.suspended(_sending()))),
        "Suspended",
        "UserRequested",
    ),
    Case("resumed", _resumed(), "Progressing", "Publishing"),
    Case(
        "cancelled while suspended, some receipts still on their way",
        _suspended_while_cancelled(),
        "Progressing",
        "WaitingForResults",
    ),
    Case(
        "finished, and a condition left over that says suspended",
        _finished_after_suspension(),
        "Degraded",
        "Cancelled: ",
    ),
    Case("expired", stored.finished(ConditionReason.EXPIRED), "Healthy", "Expired: "),
    *(
        Case(f"stopped by {reason}", stored.as_stored(facts), "Degraded", f"{reason}: ")
        for reason in OBSTACLES
        for facts in [make_facts(_sending(), obstacle=Obstacle(reason, NOON))]
    ),
    *(
        Case(f"succeeded: {reason}", stored.finished(reason), "Healthy", f"{reason}: ")
        for reason in sorted(conditions.SUCCESSES)
    ),
    *(
        Case(
            f"ended otherwise: {reason}",
            stored.finished(reason, counts=stored.SOME_FAILED),
            "Degraded",
            f"{reason}: ",
        )
        for reason in sorted(FAILURES)
    ),
)


@pytest.mark.parametrize("case", CASES, ids=[case.about for case in CASES])
def test_g4_an_object_has_the_health_of_its_status(case: Case) -> None:
    answer = lua.health(customizations.HEALTH, case.document)

    assert answer["status"] == case.status
    assert answer["message"].startswith(case.message)


@pytest.mark.parametrize(
    "document",
    [pytest.param(case.document, id=case.about) for case in CASES if case.status == "Progressing"],
)
def test_the_message_of_an_unfinished_object_has_no_number_in_it(document: dict[str, Any]) -> None:
    answer = lua.health(customizations.HEALTH, document)

    assert not any(character.isdigit() for character in answer["message"])
