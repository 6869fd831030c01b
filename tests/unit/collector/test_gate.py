"""Which effects a run event may have."""

import pytest

from receipt_collector import gate
from receipt_collector.gate import Effect, InboxOutcome, Recorded, Seen
from receipt_contract.results import PersistenceMode

NORMAL, REPROCESS, CACHE = PersistenceMode


@pytest.mark.parametrize(
    ("mode", "seen", "effect", "recorded"),
    [
        pytest.param(
            NORMAL,
            Seen(known=False, has_evidence=False, completed=False),
            Effect.EXTRACTION,
            Recorded.STORED,
            id="the first v1 of a source is stored",
        ),
        pytest.param(
            NORMAL,
            Seen(known=False, has_evidence=True, completed=False),
            Effect.NOTHING,
            Recorded.REFUSED,
            id="a v1 never replaces what is there",
        ),
        pytest.param(
            NORMAL,
            Seen(known=True, has_evidence=True, completed=False),
            Effect.NOTHING,
            Recorded.DUPLICATE,
            id="a repeated v1 is a duplicate",
        ),
        pytest.param(
            NORMAL,
            Seen(known=True, has_evidence=False, completed=False),
            Effect.EXTRACTION,
            Recorded.STORED,
            id="a v1 whose evidence was deleted is stored again",
        ),
        pytest.param(
            REPROCESS,
            Seen(known=False, has_evidence=True, completed=False),
            Effect.EXTRACTION,
            Recorded.STORED,
            id="a request replaces what is there",
        ),
        pytest.param(
            REPROCESS,
            Seen(known=False, has_evidence=False, completed=False),
            Effect.EXTRACTION,
            Recorded.STORED,
            id="a request also reads what was never read",
        ),
        pytest.param(
            REPROCESS,
            Seen(known=False, has_evidence=True, completed=True),
            Effect.NOTHING,
            Recorded.REFUSED,
            id="a second run for one request is refused",
        ),
        pytest.param(
            REPROCESS,
            Seen(known=True, has_evidence=False, completed=True),
            Effect.NOTHING,
            Recorded.DUPLICATE,
            id="a repeated event of a request is a duplicate",
        ),
        pytest.param(
            CACHE,
            Seen(known=False, has_evidence=True, completed=False),
            Effect.RUN,
            Recorded.STORED,
            id="a cache rebuild adds its run",
        ),
        pytest.param(
            CACHE,
            Seen(known=False, has_evidence=False, completed=False),
            Effect.NOTHING,
            Recorded.NO_EVIDENCE,
            id="a cache rebuild without evidence says so",
        ),
        pytest.param(
            CACHE,
            Seen(known=False, has_evidence=True, completed=True),
            Effect.NOTHING,
            Recorded.REFUSED,
            id="a second rebuild for one request is refused",
        ),
    ],
)
def test_g2_the_gate(mode: PersistenceMode, seen: Seen, effect: Effect, recorded: Recorded) -> None:
    decision = gate.decide(mode, seen)

    assert (decision.effect, decision.recorded) == (effect, recorded)


@pytest.mark.parametrize(
    ("recorded", "outcome"),
    [
        (Recorded.STORED, InboxOutcome.STORED),
        (Recorded.NO_EVIDENCE, InboxOutcome.NO_EVIDENCE),
        (Recorded.REFUSED, InboxOutcome.REFUSED),
    ],
)
def test_how_the_inbox_keeps_a_decision(recorded: Recorded, outcome: InboxOutcome) -> None:
    assert gate.Decision(Effect.NOTHING, recorded).outcome is outcome
