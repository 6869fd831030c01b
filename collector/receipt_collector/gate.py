"""Which effects an event may have. Pure: what was read about it in, a decision out.

A normal run writes only while its source has no evidence, so that a late or repeated v1 never
replaces what a request asked for. A run for a request writes once for each source and request,
whatever number of runs the attempts made.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from receipt_contract.results import PersistenceMode


class InboxOutcome(StrEnum):
    """How an event was settled when it was first seen."""

    STORED = "stored"
    REFUSED = "refused"
    NO_EVIDENCE = "no_evidence"


class Effect(Enum):
    """What is written of a run, besides that it was seen."""

    EXTRACTION = auto()  # the saved extraction and the run
    RUN = auto()  # the run beside the saved extraction, which stays
    NOTHING = auto()


class Recorded(StrEnum):
    """What became of an event; all of these are acknowledged."""

    STORED = "stored"
    DUPLICATE = "duplicate"  # this very event was settled before
    REFUSED = "refused"  # another run came first
    NO_EVIDENCE = "no_evidence"  # a cache was rebuilt for a source without saved extraction
    RUN_NOT_STORED = "run_not_stored"  # a pass of a run that was settled without a run row


@dataclass(frozen=True)
class Seen:
    """What the database holds about a run event."""

    known: bool  # the event id is in the inbox
    has_evidence: bool
    completed: bool  # its request is completed for its source


@dataclass(frozen=True)
class Decision:
    """What to write, and what became of the event."""

    effect: Effect
    recorded: Recorded

    @property
    def outcome(self) -> InboxOutcome:
        """How the inbox keeps it, when the event is new."""
        match self.recorded:
            case Recorded.STORED:
                return InboxOutcome.STORED
            case Recorded.NO_EVIDENCE:
                return InboxOutcome.NO_EVIDENCE
            case _:
                return InboxOutcome.REFUSED


def decide(mode: PersistenceMode, seen: Seen) -> Decision:
    """Choose the effect of a run event."""
    if mode is PersistenceMode.NORMAL:
        # Known or not: where someone deleted the evidence, its next reading writes it again.
        return _nothing(seen) if seen.has_evidence else _stored(Effect.EXTRACTION)
    if seen.known or seen.completed:
        return _nothing(seen)
    if mode is PersistenceMode.REPROCESS:
        return _stored(Effect.EXTRACTION)
    if seen.has_evidence:
        return _stored(Effect.RUN)
    return Decision(Effect.NOTHING, Recorded.NO_EVIDENCE)


def _stored(effect: Effect) -> Decision:
    return Decision(effect, Recorded.STORED)


def _nothing(seen: Seen) -> Decision:
    return Decision(Effect.NOTHING, Recorded.DUPLICATE if seen.known else Recorded.REFUSED)
