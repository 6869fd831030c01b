"""What the register holds, as values: requests, their counts, items on their way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from receipt_contract.requests import Kind
from receipt_contract.status import ConditionReason


class ObjectKey(NamedTuple):
    """One object of ours in the cluster."""

    kind: Kind
    namespace: str
    name: str


class RequestState(StrEnum):
    """Where a request stands in the register."""

    PLANNING = "planning"  # claimed; its items are being written
    OPEN = "open"  # its items are written whole: it is accepted
    FINISHED = "finished"  # frozen


class Ending(StrEnum):
    """Why a request stops before its items are through."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    THRESHOLD = "threshold"


class ItemState(StrEnum):
    """Where one receipt of a request stands."""

    PLANNED = "planned"
    PUBLISHING = "publishing"  # sent or about to be: uncertain until the confirm
    PUBLISHED = "published"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Counts:
    """Items of one request by state."""

    planned: int = 0
    publishing: int = 0
    published: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    confirmed: int = 0  # of all, those whose work the broker confirmed at least once
    publications: int = 0  # confirmed sends, repeated ones included

    @property
    def in_flight(self) -> int:
        """Items that may be with the broker or a worker."""
        return self.publishing + self.published

    @property
    def unsent(self) -> int:
        """Items the broker has not confirmed yet."""
        return self.planned + self.publishing

    @property
    def ended(self) -> int:
        """Items that came to an end."""
        return self.done + self.failed + self.skipped

    @property
    def unended(self) -> int:
        """Items that have still to come to an end."""
        return self.planned + self.in_flight

    @property
    def known(self) -> int:
        """All items written so far."""
        return self.unended + self.ended


@dataclass(frozen=True)
class Knobs:
    """The mutable fields of a request, as its object last said them; None is the default."""

    suspend: bool = False
    paused: bool = False  # the operator is, for all of its requests
    cancel: bool = False
    priority: str | None = None
    max_in_flight: int | None = None
    active_deadline_seconds: int | None = None
    failure_threshold_percent: int | None = None

    @property
    def stopped(self) -> bool:
        """Whether nothing may be sent now."""
        return self.suspend or self.paused

    def document(self) -> dict[str, Any]:
        """As stored: only what was said."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and value is not False
        }


@dataclass(frozen=True, slots=True)
class Request:
    """One row of `work.requests`."""

    request_id: str
    cluster: str
    key: ObjectKey
    run_id: str
    object_uid: str
    wish: Mapping[str, Any]
    state: RequestState
    plan_cursor: str | None
    total: int | None
    knobs: Knobs
    parked: bool
    awaiting_approval: bool
    ending: Ending | None
    ending_since: datetime | None
    active_seconds: float
    active_since: datetime | None
    created_at: datetime
    accepted_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    result: ConditionReason | None
    counts: Counts
    summary: Mapping[str, Any] = field(default_factory=dict)
    last_advance_at: datetime | None = None

    @property
    def finished(self) -> bool:
        """Whether the request is frozen."""
        return self.state is RequestState.FINISHED

    @property
    def goes_on(self) -> bool:
        """Whether it is neither frozen nor parked."""
        return not self.finished and not self.parked

    @property
    def dry_run(self) -> bool:
        """Whether the request only counts."""
        return bool(self.wish.get("dryRun"))

    @property
    def publishable(self) -> bool:
        """Whether new messages may be sent for it."""
        return (
            self.state is RequestState.OPEN
            and not self.dry_run
            and not self.knobs.stopped
            and not self.parked
            and self.ending is None
        )

    @property
    def is_about_to_send(self) -> bool:
        """Whether it may send and nothing of it was sent or ended yet."""
        return self.publishable and 0 < self.counts.planned == self.counts.known

    def active_for(self, now: datetime) -> float:
        """Seconds in which it was neither suspended nor parked."""
        running = (now - self.active_since).total_seconds() if self.active_since else 0.0
        return self.active_seconds + max(running, 0.0)


class Sending(NamedTuple):
    """One item about to be sent."""

    request_id: str
    reference: str
    sha256: str


def request_of(row: Mapping[str, Any]) -> Request:
    """Read a row of `work.requests`, with or without live counts beside it."""
    live = {name: row.get(f"live_{name}") for name in Counts.__dataclass_fields__}
    summary = row["summary"] or {}
    frozen = {name: row[name] for name in ("done", "failed", "skipped")} | {
        name: summary.get(name) for name in ("confirmed", "publications")
    }
    chosen = frozen if row["state"] == RequestState.FINISHED else live
    return Request(
        request_id=str(row["request_id"]),
        cluster=row["cluster"],
        key=ObjectKey(Kind(row["kind"]), row["namespace"], row["name"]),
        run_id=row["run_id"],
        object_uid=row["object_uid"],
        wish=row["wish"],
        state=RequestState(row["state"]),
        plan_cursor=row["plan_cursor"],
        total=row["total"],
        knobs=Knobs(**row["knobs"]),
        parked=row["parked"],
        awaiting_approval=row["awaiting_approval"],
        ending=Ending(row["ending"]) if row["ending"] else None,
        ending_since=row["ending_since"],
        active_seconds=row["active_seconds"],
        active_since=row["active_since"],
        created_at=row["created_at"],
        accepted_at=row["accepted_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        result=ConditionReason(row["result"]) if row["result"] else None,
        counts=Counts(**{name: value or 0 for name, value in chosen.items()}),
        summary=summary,
        last_advance_at=row.get("last_advance_at"),
    )
