"""Whole objects as the API server holds them, with the status that the operator writes."""

from dataclasses import replace
from typing import Any

from receipt_contract.errors import Reason
from receipt_contract.requests import API_VERSION
from receipt_contract.status import ConditionReason
from receipt_operator.facts import Facts
from receipt_operator.observed import Observed
from receipt_operator.register.rows import Counts, Request
from receipt_operator.status import status_of
from tests.support.facts import BEGAN, make_facts, make_finished, make_observed

SOME_FAILED = Counts(done=3, failed=2, confirmed=5, publications=5)


def as_stored(facts: Facts) -> dict[str, Any]:
    """Return the object of these facts."""
    return blank(facts.observed) | {"status": status_of(facts)}


def blank(observed: Observed) -> dict[str, Any]:
    """Return an object just created: the API server fills in that nobody looked at it yet."""
    metadata = {
        "name": observed.key.name,
        "namespace": observed.key.namespace,
        "uid": observed.uid,
        "generation": observed.generation,
        "resourceVersion": observed.resource_version,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": observed.key.kind.value,
        "metadata": metadata,
        "spec": dict(observed.spec),
        "status": {"observedGeneration": -1},
    }


def finished(
    result: ConditionReason, *, counts: Counts | None = None, **spec: Any
) -> dict[str, Any]:
    """Return an object whose request ended so."""
    observed = make_observed({"target": {"reference": "2024-03/shop.png"}, **spec})
    summary = {"by_reason": {Reason.CORRUPT.value: counts.failed}} if counts else {}
    request = make_finished(observed, result=result, counts=counts, summary=summary)
    return as_stored(make_facts(request, observed=observed))


def suspended(request: Request) -> Request:
    """Return the same request, suspended."""
    return replace(
        request, knobs=replace(request.knobs, suspend=True), active_since=None, started_at=BEGAN
    )
