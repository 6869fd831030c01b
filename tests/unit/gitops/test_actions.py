"""The resource actions, run alone: when each is offered, and what it makes of an object."""

from typing import Any

import pytest

from dev.gitops import customizations
from receipt_contract.requests import RequestSpec
from receipt_contract.status import ConditionReason
from tests.support import lua, stored
from tests.support.facts import make_facts, make_observed

SPEC = {"target": {"reference": "2024-03/shop.png"}}
PARTLY = ConditionReason.PARTIALLY_FAILED


def _running(**spec: Any) -> dict[str, Any]:
    return stored.as_stored(make_facts(observed=make_observed(SPEC | spec)))


@pytest.mark.parametrize(
    ("document", "offered"),
    [
        pytest.param(stored.blank(make_observed()), {"suspend", "cancel"}, id="just created"),
        pytest.param(_running(), {"suspend", "cancel"}, id="running"),
        pytest.param(_running(suspend=True), {"resume", "cancel"}, id="suspended"),
        pytest.param(_running(cancel=True), set(), id="being cancelled"),
        pytest.param(stored.finished(ConditionReason.COMPLETED), set(), id="succeeded"),
        pytest.param(
            stored.finished(PARTLY, counts=stored.SOME_FAILED), {"rerun-failed"}, id="failed"
        ),
        pytest.param(
            stored.finished(PARTLY, counts=stored.SOME_FAILED) | {"metadata": {"generation": 2}},
            {"suspend", "cancel"},
            id="failed, and changed since",
        ),
        pytest.param({"metadata": {}, "spec": SPEC}, {"suspend", "cancel"}, id="no status"),
    ],
)
def test_an_action_is_offered_where_it_does_something(
    document: dict[str, Any], offered: set[str]
) -> None:
    assert set(lua.run_action(customizations.DISCOVERY, document)) == offered


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        pytest.param("suspend", {"suspend": True}, id="suspend"),
        pytest.param("resume", {"suspend": False}, id="resume"),
        pytest.param("cancel", {"cancel": True}, id="cancel"),
    ],
)
def test_an_action_changes_one_field_of_the_spec(name: str, changed: dict[str, Any]) -> None:
    document = _running()

    answer = lua.run_action(customizations.action(name), document)

    assert answer["spec"] == document["spec"] | changed
    assert answer["metadata"] == document["metadata"]


def test_rerunning_the_failed_asks_for_them_under_a_new_run_id() -> None:
    document = stored.finished(
        PARTLY,
        counts=stored.SOME_FAILED,
        runId="one",
        cancel=True,
        suspend=True,
        startBefore="2026-01-01T00:00:00Z",
        priority="High",
    )

    answer = lua.run_action(customizations.action("rerun-failed"), document)
    spec = RequestSpec.model_validate(answer["spec"])

    assert spec.target.retry_failed_of == "one"
    assert spec.run_id.startswith("retry-20")
    assert set(answer["spec"]) == {"target", "runId", "priority"}


def test_every_action_has_a_script_and_every_script_is_an_action() -> None:
    scripts = {path.stem for path in customizations.DISCOVERY.parent.iterdir()}

    assert scripts == {"discovery", *customizations.ACTIONS}
