"""Sending work messages: counts what the broker confirmed, stops at the first refusal."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from receipt_cli import addresses
from receipt_cli.output import CommandError
from receipt_contract.access import BrokerUser
from receipt_contract.errors import Reason
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from receipt_runtime.amqp import envelopes
from receipt_runtime.amqp.messages import Outcome
from receipt_runtime.amqp.publisher import WINDOW, Publisher
from receipt_runtime.settings import TopologySettings, read

Work = ProcessWork | ReprocessWork | CacheRebuildWork

_SENTENCES = {
    Outcome.RETURNED: "No queue takes the work: run `ledger topology declare`.",
    Outcome.NACKED: "The work queue is full: run this again when the workers have caught up.",
    Outcome.UNCERTAIN: "The broker did not confirm a message in time: sending it again is safe.",
    Outcome.NOT_SENT: Reason.BROKER_UNAVAILABLE.sentence,
}


class Sender:
    """Sends work and keeps count; made by `sending`."""

    def __init__(self, publisher: Publisher) -> None:
        """Start with nothing sent."""
        self.confirmed = 0
        self._publisher = publisher
        self._outstanding: deque[Future[Outcome]] = deque()
        self._refused: Outcome | None = None

    def send(self, one: Work) -> None:
        """Hand over a message; raises CommandError once the broker refused any.

        Raises PermanentError(UNSAFE_REFERENCE) for a reference too long for a message.
        """
        while len(self._outstanding) >= WINDOW:
            self._settle_oldest()
        self._raise_refusal()
        self._outstanding.append(self._publisher.submit(envelopes.of_work(one)))

    def finish(self) -> None:
        """Wait for every confirm; raises CommandError unless all came."""
        self.settle()
        self._raise_refusal()

    def settle(self) -> None:
        """Wait for every outcome, so that `confirmed` is final."""
        while self._outstanding:
            self._settle_oldest()

    def _settle_oldest(self) -> None:
        outcome = self._outstanding.popleft().result()
        if outcome is Outcome.PUBLISHED:
            self.confirmed += 1
        else:
            self._refused = self._refused or outcome

    def _raise_refusal(self) -> None:
        if self._refused is Outcome.NOT_SENT and self._publisher.problem:
            raise CommandError(self._publisher.problem)
        if self._refused is not None:
            raise CommandError(_SENTENCES[self._refused])


@contextmanager
def sending(url: str) -> Iterator[Sender]:
    """Connect for a command's lifetime; at its end every message sent has its outcome."""
    checks = read(TopologySettings).checks(BrokerUser.OPERATOR)
    publisher = Publisher(addresses.broker(url), name="ledger", checks=checks)
    publisher.start()
    sender = Sender(publisher)
    try:
        yield sender
    finally:
        sender.settle()
        publisher.close()
