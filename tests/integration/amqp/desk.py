"""A consumer with a working person behind it, whose mood a test decides."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Event, Thread

from receipt_contract.access import Access
from receipt_contract.topology import WORK_SIDE
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.consumer import Consumer, Patience
from receipt_runtime.amqp.intake import ByContract, Keeping
from receipt_runtime.amqp.messages import Delivery
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.amqp.settlement import AnyWork
from tests.support.amqp import WITHIN_SECONDS, consuming, eventually

CONSUMER = "test-consumer"
QUICK = Patience(longest_pause=0.2)


@dataclass
class Person:
    """Works on deliveries: fails in the given order (None: does not), and waits when told to."""

    failures: list[Exception | None] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    may_finish: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        """Let everything finish at once, until a test says otherwise."""
        self.may_finish.set()

    def work_on(self, message: AnyWork, delivery: Delivery) -> None:
        """Work on a message of the contract."""
        self._work(f"{message.source_reference}#{message.attempt}", delivery)

    def work_on_anything(self, delivery: Delivery) -> None:
        """Work on a delivery of any kind."""
        self._work(str(delivery.message_id), delivery)

    def saw(self, count: int) -> None:
        """Wait until that many tries were begun."""
        eventually(lambda: len(self.seen) >= count)

    def _work(self, name: str, _delivery: Delivery) -> None:
        self.seen.append(name)
        assert self.may_finish.wait(WITHIN_SECONDS)
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure


@dataclass
class Desk:
    """Consumers of one virtual host."""

    url: str
    publisher: Publisher
    person: Person = field(default_factory=Person)

    def consumer(
        self, *, prefetch: int = 1, patience: Patience = QUICK, checks: Access | None = None
    ) -> Consumer:
        """Make a consumer of the work queue."""
        return Consumer(
            self.url,
            name=CONSUMER,
            queues=[WORK_SIDE.work],
            prefetch=prefetch,
            intake=ByContract(settlement.WORK, self.person.work_on),
            publisher=self.publisher,
            checks=checks,
            patience=patience,
        )

    def working(
        self, *, prefetch: int = 1, patience: Patience = QUICK
    ) -> AbstractContextManager[Thread]:
        """Consume the work queue for a while."""
        return consuming(self.consumer(prefetch=prefetch, patience=patience))

    def keeping(self, *queues: str) -> AbstractContextManager[Thread]:
        """Consume failures queues for a while."""
        consumer = Consumer(
            self.url,
            name="test-keeper",
            queues=queues,
            prefetch=1,
            intake=Keeping(self.person.work_on_anything),
            publisher=self.publisher,
            patience=QUICK,
        )
        return consuming(consumer)
