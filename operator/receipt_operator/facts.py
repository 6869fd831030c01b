"""Everything a status is computed from, gathered before anything is decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from receipt_contract.errors import Reason
from receipt_contract.requests import RequestSpec
from receipt_contract.status import ConditionReason, EtaBasis, Kept, QueuePlace
from receipt_operator.observed import Observed
from receipt_operator.register.rows import Request


@dataclass(frozen=True)
class Obstacle:
    """What keeps a request from going on, and since when."""

    reason: ConditionReason
    since: datetime


@dataclass(frozen=True)
class Failures:
    """Which receipts failed: counts by reason class, and the first ones."""

    by_reason: Mapping[Reason, int] = field(default_factory=dict)
    samples: Sequence[tuple[str, Reason]] = ()

    def document(self) -> dict[str, object]:
        """As frozen with a finished request."""
        return {"by_reason": dict(self.by_reason), "samples": [list(one) for one in self.samples]}


@dataclass(frozen=True)
class Pace:
    """How fast receipts end, and how long the rest takes at that pace."""

    per_minute: float
    seconds_left: float | None
    basis: EtaBasis = EtaBasis.CURRENT_RATE


@dataclass(frozen=True)
class Facts:
    """One request as everything that is known about it."""

    observed: Observed
    spec: RequestSpec
    request: Request
    now: datetime
    default_max_in_flight: int
    failures: Failures = field(default_factory=Failures)
    obstacle: Obstacle | None = None
    pace: Pace | None = None
    queued: bool = False  # it waits for another request to end before it is planned
    place: QueuePlace | None = None  # while it waits for its turn
    kept: Kept | None = None  # although it asked to be deleted after its end
    history: Sequence[Request] = ()


def failures_of(request: Request) -> Failures:
    """Read the failures that were frozen with a finished request."""
    return Failures(
        by_reason={
            Reason.read(name): count for name, count in request.summary.get("by_reason", {}).items()
        },
        samples=[
            (reference, Reason.read(name)) for reference, name in request.summary.get("samples", [])
        ],
    )
