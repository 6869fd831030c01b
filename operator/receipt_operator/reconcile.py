"""What to do about one object, decided from what was observed. Pure.

The register is asked first: a request it knows is never validated or expired again. Only an
unknown one can be refused, and only if its object does not already say how it ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from pydantic import ValidationError

from receipt_contract import requests as contract
from receipt_contract.identity import RequestName
from receipt_contract.requests import RequestSpec
from receipt_contract.status import ConditionReason
from receipt_operator import recovery
from receipt_operator.observed import Observed
from receipt_operator.register.requests import Claim, Frozen
from receipt_operator.register.rows import Counts, Knobs, Request


class Act(Enum):
    """What happens to the request an object asks for."""

    SHOW = "show"  # known and finished: its first result is shown again
    GO_ON = "go on"  # known and unfinished
    RECOVER = "recover"  # unknown, but the object says how exactly this request ended
    REFUSE = "refuse"  # unknown and ended before it began
    CLAIM = "claim"  # unknown: write it down and plan it


class Brake(NamedTuple):
    """Where the register was new: beyond the first requests others wait for approval."""

    first: int
    namespaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The request an object asks for."""

    request_id: str
    spec: RequestSpec
    claim: Claim
    generation: int  # of the object that said so


@dataclass(frozen=True)
class Decision:
    """Everything to write for one object."""

    act: Act
    claim: Claim
    frozen: Frozen | None = None  # for RECOVER and REFUSE
    knobs: Knobs | None = None  # changed mutable fields, for GO_ON
    approve: bool = False  # a person lets it go on that would wait, or waits already
    unpark: Sequence[str] = field(default=())  # this request, and one it looks back on
    park: Sequence[str] = field(default=())  # other requests of the object

    @property
    def writes(self) -> bool:
        """Whether the register has to be touched at all."""
        return (
            self.act not in {Act.SHOW, Act.GO_ON}
            or self.knobs is not None
            or self.approve
            or bool(self.park)
            or bool(self.unpark)
        )


def wanted(observed: Observed, cluster: str, *, paused: bool = False) -> Wanted | None:
    """Read what an object asks for; None when this program cannot read its spec.

    A paused operator lets every request wait as if it were suspended.
    The API server refuses what the schema forbids, so that is an object of a later version.
    """
    try:
        spec = RequestSpec.model_validate(observed.spec)
    except ValidationError:
        return None
    key = observed.key
    request_id = contract.request_identity(
        spec,
        cluster=cluster,
        namespace=key.namespace,
        kind=key.kind,
        name=key.name,
        uid=observed.uid,
    )
    named = RequestName(cluster, key.namespace, key.kind.value, key.name, spec.run_id)
    wish = contract.canonical_wish(spec)
    knobs = replace(knobs_of(spec), paused=paused)
    claim = Claim(request_id, named, observed.uid, wish, knobs)
    return Wanted(request_id, spec, claim, observed.generation)


def decide(observed: Observed, want: Wanted, rows: Sequence[Request], now: datetime) -> Decision:
    """Decide for one object from the rows of its requests."""
    # What a retry looks back on has to come to its end first.
    looked_back_on = want.spec.target.retry_failed_of
    known = next((row for row in rows if row.request_id == want.request_id), None)
    park = tuple(
        row.request_id
        for row in rows
        if row.key == observed.key
        and row is not known
        and row.goes_on
        and row.run_id != looked_back_on
    )
    if known is not None and known.finished:
        return Decision(Act.SHOW, want.claim, park=park)
    unpark = tuple(
        row.request_id
        for row in rows
        if row.key == observed.key
        and row.parked
        and not row.finished
        and (row is known or row.run_id == looked_back_on)
    )
    if known is None:
        return replace(_decide_unknown(observed, want, park, now), unpark=unpark)
    latched = _latched(want.claim.knobs, known.knobs)
    return Decision(
        Act.GO_ON,
        want.claim,
        knobs=latched if latched != known.knobs else None,
        approve=observed.approved and known.awaiting_approval,
        unpark=unpark,
        park=park,
    )


def _decide_unknown(
    observed: Observed, want: Wanted, park: Sequence[str], now: datetime
) -> Decision:
    ended = recovery.from_status(observed.status, want.request_id)
    if ended is not None:
        return Decision(Act.RECOVER, want.claim, frozen=ended, park=park)
    refusal = _refusal(want.spec, now)
    if refusal is not None and not recovery.was_seen(observed.status, want.request_id):
        frozen = Frozen(refusal, 0, Counts(), {})
        return Decision(Act.REFUSE, want.claim, frozen=frozen, park=park)
    return Decision(Act.CLAIM, want.claim, approve=observed.approved, park=park)


def braked(decision: Decision, brake: Brake, begun: int) -> Decision:
    """Let a new request wait for a person when `begun` others used up what goes on by itself."""
    is_held = (
        decision.act is Act.CLAIM
        and not decision.approve
        and decision.claim.named.namespace in brake.namespaces
        and begun >= brake.first
    )
    return replace(decision, claim=replace(decision.claim, awaiting_approval=is_held))


def _refusal(spec: RequestSpec, now: datetime) -> ConditionReason | None:
    if spec.start_before is not None and now > spec.start_before:
        return ConditionReason.EXPIRED
    return None


def knobs_of(spec: RequestSpec) -> Knobs:
    """Return the mutable fields as the register keeps them."""
    return Knobs(
        suspend=bool(spec.suspend),
        cancel=bool(spec.cancel),
        priority=spec.priority.value if spec.priority else None,
        max_in_flight=spec.max_in_flight,
        active_deadline_seconds=spec.active_deadline_seconds,
        failure_threshold_percent=spec.failure_threshold_percent,
    )


def _latched(now_said: Knobs, before: Knobs) -> Knobs:
    """Keep a cancel, also when the object that said it was replaced."""
    if before.cancel and not now_said.cancel:
        return replace(now_said, cancel=True)
    return now_said
