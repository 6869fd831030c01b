"""A finite model of attempts and effects: everything may happen twice, or be cut off (G1, G2).

The broker, the markers and the database are modelled; what is decided is decided by the program's
own rules, `settlement` and `gate`. One source is asked for by three works: found (v1), to be read
again (v2), to have its cache rebuilt (v3).
"""

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from receipt_collector import gate
from receipt_collector.gate import Effect, Seen
from receipt_contract import work
from receipt_contract.errors import AttemptError, OutageError, PermanentError, Reason
from receipt_contract.identity import run_event_id
from receipt_contract.results import PersistenceMode
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.settlement import Ack, AnyWork, Dead, Hold, Retry
from tests.support.amqp import make_delivery
from tests.support.wire import A_REQUEST, A_RUN, A_SHA256

FOUND = ProcessWork(source_sha256=A_SHA256, source_reference="a.png")
AGAIN = ReprocessWork(source_sha256=A_SHA256, source_reference="a.png", request_id=A_REQUEST)
CACHE = CacheRebuildWork(source_sha256=A_SHA256, source_reference="a.png", request_id=A_RUN)
MODES = {
    1: PersistenceMode.NORMAL,
    2: PersistenceMode.REPROCESS,
    3: PersistenceMode.CACHE_ONLY,
}
# How far a worker comes with a delivery before it is killed.
MARKED, PUBLISHED, ACKNOWLEDGED = 2, 3, 4
FAILURES = st.sampled_from(
    [
        None,
        AttemptError(Reason.TIMEOUT),
        OutageError(Reason.NO_SPACE),
        PermanentError(Reason.CORRUPT),
    ]
)


@dataclass(frozen=True)
class Event:
    """A run event on its way to the collector."""

    run: int
    version: int
    request_id: str | None

    @property
    def event_id(self) -> str:
        return run_event_id(str(self.run), self.request_id)


@dataclass
class Database:
    """What the collector keeps."""

    inbox: set[str] = field(default_factory=set)
    completed: set[str] = field(default_factory=set)
    evidence: bool = False
    effects: Counter[str] = field(default_factory=Counter)
    ended: set[str] = field(default_factory=set)


class World(RuleBasedStateMachine):
    """Every step may be cut off before its last part, which then happens again."""

    def __init__(self) -> None:
        """Ask for all three works once."""
        super().__init__()
        self.queue: list[AnyWork] = []
        self.events: list[Event] = []
        self.dead: list[AnyWork] = []
        self.markers: dict[str, int] = {}
        self.runs = 0
        self.database = Database()
        self.asked = {one.message_id: one for one in (FOUND, AGAIN, CACHE)}
        self.queue.extend(self.asked.values())

    @rule(index=st.integers(0, 9), failure=FAILURES, reached=st.integers(0, ACKNOWLEDGED))
    @precondition(lambda self: self.queue)
    def deliver_work(self, index: int, failure: Exception | None, reached: int) -> None:
        """Let a worker answer, fail, or die after some of its steps."""
        wanted = self.queue[index % len(self.queue)]
        if failure is None:
            self._answer(wanted, reached=reached)
            if reached < ACKNOWLEDGED:
                return  # the message is delivered again
        delivery = make_delivery(work.encode(wanted))
        done = settlement.settle(settlement.WORK, delivery, message=wanted, failure=failure)
        match done:
            case Ack():
                self.queue.remove(wanted)
            case Retry(message=message):
                self.queue.remove(wanted)
                self.queue.append(work.decode(message.body))
            case Dead():
                self.queue.remove(wanted)
                self.dead.append(wanted)
            case Hold():
                pass

    @rule(index=st.integers(0, 9), commits=st.booleans(), acknowledged=st.booleans())
    @precondition(lambda self: self.events)
    def deliver_event(self, index: int, *, commits: bool, acknowledged: bool) -> None:
        """Let the collector apply an event, with its commit or its acknowledgement cut off."""
        event = self.events[index % len(self.events)]
        if commits:
            self._record(event)
            if acknowledged:
                self.events.remove(event)

    @rule(index=st.integers(0, 9))
    @precondition(lambda self: self.dead)
    def deliver_failure(self, index: int) -> None:
        """Let the collector end the item of a dead letter."""
        self.database.ended.add(self.dead.pop(index % len(self.dead)).message_id)

    @rule(chance=st.integers(0, 9))
    def lose_the_broker(self, chance: int) -> None:
        """Wipe the broker, seldom; the operator sends again what has not ended."""
        if chance:
            return
        self.queue, self.events, self.dead = [], [], []
        self._republish()

    @rule()
    def lose_the_cache(self) -> None:
        """Delete every marker: the next attempt reads again."""
        self.markers.clear()

    @rule()
    def republish(self) -> None:
        """Send once more what may not be lost at all."""
        self._republish()

    @invariant()
    def each_request_has_one_effect_at_most(self) -> None:
        """Hold promise G2."""
        assert all(count <= 1 for count in self.database.effects.values())

    @invariant()
    def a_completed_request_stays_completed(self) -> None:
        """Hold that nothing done is undone."""
        assert self.database.completed <= self.database.ended

    def teardown(self) -> None:
        """Hold promise G1: once nothing fails any more, everything ends."""
        self._republish()
        while self.queue or self.events or self.dead:
            for wanted in list(self.queue):
                self._answer(wanted, reached=PUBLISHED)
                self.queue.remove(wanted)
            for event in list(self.events):
                self._record(event)
                self.events.remove(event)
            while self.dead:
                self.database.ended.add(self.dead.pop().message_id)
        assert self.database.ended == set(self.asked)

    def _republish(self) -> None:
        self.queue += [one for name, one in self.asked.items() if name not in self.database.ended]

    def _answer(self, wanted: AnyWork, *, reached: int) -> None:
        """Read, leave the marker, publish; cut off after `reached` steps."""
        request_id = None if isinstance(wanted, ProcessWork) else wanted.request_id
        run = self.markers.get(wanted.message_id)
        if run is None:
            self.runs += 1
            run = self.runs
        if reached >= MARKED:
            self.markers[wanted.message_id] = run
        if reached >= PUBLISHED:
            self.events.append(Event(run, wanted.version, request_id))

    def _record(self, event: Event) -> None:
        database = self.database
        name = next(name for name, one in self.asked.items() if one.version == event.version)
        seen = Seen(
            known=event.event_id in database.inbox,
            has_evidence=database.evidence,
            completed=name in database.completed,
        )
        decision = gate.decide(MODES[event.version], seen)
        if decision.effect is not Effect.NOTHING:
            database.effects[name] += 1
        database.evidence = database.evidence or decision.effect is Effect.EXTRACTION
        database.inbox.add(event.event_id)
        database.completed.add(name)
        database.ended.add(name)


World.TestCase.settings = settings(max_examples=200, stateful_step_count=40)
TestAttemptsAndEffects = World.TestCase
