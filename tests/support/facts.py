"""Builders of what the operator decides from: observed objects, registered requests, facts."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from receipt_contract.requests import Kind, RequestSpec
from receipt_contract.status import ConditionReason
from receipt_operator import reconcile
from receipt_operator.facts import Facts, failures_of
from receipt_operator.observed import Observed, packed
from receipt_operator.reconcile import Wanted
from receipt_operator.register.rows import Counts, ObjectKey, Request, RequestState
from tests.support.requests import NOON, for_reference

CLUSTER = "home"
UID = "uid-1"
KEY = ObjectKey(Kind.RECEIPT_REPROCESS, "receipts", "some")
BEGAN = NOON - timedelta(hours=1)
OBSTACLES = (
    ConditionReason.BROKER_UNAVAILABLE,
    ConditionReason.DATABASE_UNAVAILABLE,
    ConditionReason.SOURCE_UNAVAILABLE,
    ConditionReason.CACHE_UNAVAILABLE,
    ConditionReason.UNROUTABLE,
    ConditionReason.QUEUE_FULL,
    ConditionReason.NO_PROGRESS,
    ConditionReason.INTERNAL_ERROR,
)


def make_observed(
    spec: Mapping[str, Any] | None = None,
    *,
    key: ObjectKey = KEY,
    uid: str = UID,
    generation: int = 1,
    status: Mapping[str, Any] | None = None,
) -> Observed:
    """Return an object that asks for one receipt, or for what `spec` says."""
    return Observed(
        key=key,
        uid=uid,
        generation=generation,
        resource_version="7",
        created_at=BEGAN,
        packed_spec=packed(spec or for_reference("2024-03/shop.png")),
        packed_status=packed(status or {"observedGeneration": -1}),
    )


def make_wanted(observed: Observed) -> Wanted:
    """Read what an object asks for."""
    want = reconcile.wanted(observed, CLUSTER)
    assert want is not None
    return want


def make_request(observed: Observed | None = None, **changes: Any) -> Request:
    """Return the accepted request of an object, in which nothing was sent yet."""
    want = make_wanted(observed or make_observed())
    request = Request(
        request_id=want.request_id,
        cluster=CLUSTER,
        key=(observed or make_observed()).key,
        run_id=want.spec.run_id,
        object_uid=UID,
        wish=want.claim.wish,
        state=RequestState.OPEN,
        plan_cursor="2024-03/shop.png",
        total=1,
        knobs=want.claim.knobs,
        parked=False,
        awaiting_approval=False,
        ending=None,
        ending_since=None,
        active_seconds=0.0,
        active_since=BEGAN,
        created_at=BEGAN,
        accepted_at=BEGAN,
        started_at=None,
        finished_at=None,
        result=None,
        counts=Counts(planned=1),
    )
    return replace(request, **changes)


def make_planning(observed: Observed | None = None, **changes: Any) -> Request:
    """Return a request whose receipts are still being looked for."""
    fields = {
        "state": RequestState.PLANNING,
        "accepted_at": None,
        "total": None,
        "plan_cursor": None,
        "counts": Counts(),
    }
    return make_request(observed, **(fields | changes))


def make_finished(
    observed: Observed | None = None,
    *,
    result: ConditionReason = ConditionReason.COMPLETED,
    counts: Counts | None = None,
    **changes: Any,
) -> Request:
    """Return a frozen request."""
    frozen = counts or Counts(done=1, confirmed=1, publications=1)
    fields = {
        "state": RequestState.FINISHED,
        "started_at": BEGAN,
        "finished_at": NOON,
        "active_seconds": 3600.0,
        "active_since": None,
        "result": result,
        "total": frozen.known,
        "counts": frozen,
    }
    return make_request(observed, **(fields | changes))


def make_facts(
    request: Request | None = None,
    *,
    observed: Observed | None = None,
    now: datetime = NOON,
    **changes: Any,
) -> Facts:
    """Return the facts about a request; a finished one's failures are those frozen with it."""
    seen = observed or make_observed()
    shown = request or make_request(seen)
    facts = Facts(
        observed=seen,
        spec=RequestSpec.model_validate(seen.spec),
        request=shown,
        now=now,
        default_max_in_flight=100,
        failures=failures_of(shown),
    )
    return replace(facts, **changes)
