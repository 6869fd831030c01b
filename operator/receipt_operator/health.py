"""What `/livez` and `/readyz` say about the operator.

Alive means that a restart would not help: the loops turn and complete lists come. Ready means that
work flows: the lease is held, database and broker answer.
"""

import time
from collections.abc import Sequence

from receipt_runtime.amqp.publisher import Publisher

# The watch is started anew after ten silent minutes; a complete list comes every five.
SILENT_SECONDS = 900.0
STALE_SECONDS = 60.0


class Pulse:
    """When each loop last got through a round."""

    def __init__(self) -> None:
        """Count from now, so that a start has its time."""
        self._began = time.monotonic()
        self._beats: dict[str, float] = {}
        self.leads = False  # whether this operator holds the lease

    def beat(self, loop: str) -> None:
        """Note that a loop got through."""
        self._beats[loop] = time.monotonic()

    def age(self, loop: str) -> float:
        """Seconds since a loop last got through."""
        return time.monotonic() - self._beats.get(loop, self._began)


def live(pulse: Pulse, *, waiting: int) -> Sequence[str]:
    """Say what a restart might mend; `waiting` objects are queued."""
    problems = []
    if pulse.age("event loop") > STALE_SECONDS:
        problems.append("The event loop has not turned for a minute.")
    if pulse.leads and pulse.age("sweep") > SILENT_SECONDS:
        problems.append("No complete list of the objects for fifteen minutes.")
    if pulse.leads and waiting and pulse.age("reconcile") > SILENT_SECONDS:
        problems.append("Objects wait, and none was reconciled for fifteen minutes.")
    return problems


def ready(pulse: Pulse, publisher: Publisher) -> Sequence[str]:
    """Say what keeps work from flowing."""
    problems = []
    if not pulse.leads:
        problems.append("Another operator holds the lease, or the database does not answer.")
    elif pulse.age("mirror") > STALE_SECONDS:
        problems.append("No look at the database got through for a minute.")
    if publisher.problem is not None:
        problems.append(publisher.problem)
    return problems
