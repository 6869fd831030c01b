"""A worker at a desk: work is handed over directly, its events are taken from the real broker."""

from dataclasses import dataclass

from receipt_contract import results
from receipt_contract.results import PassEvent, ResultEvent, RunEventV2
from receipt_contract.topology import RESULTS_SIDE
from receipt_worker.process import AnyWork, Processor
from tests.support.amqp import Visitor


@dataclass(frozen=True)
class Desk:
    """One processor and the queue that its events go to."""

    processor: Processor
    visitor: Visitor

    def answer(self, work: AnyWork) -> RunEventV2:
        """Work on a message; returns the run event, after checking that its passes follow."""
        self.processor.work_on(work)
        run, *passes = self.events()
        assert isinstance(run, RunEventV2)
        assert passes
        assert all(isinstance(event, PassEvent) for event in passes)
        return run

    def events(self) -> list[ResultEvent]:
        """Take what was published since the last look."""
        return [results.decode(taken.body) for taken in self.visitor.take_all(RESULTS_SIDE.work)]
