"""What `/livez` and `/readyz` say about the operator.

Alive means that a restart would not help: the loops turn and the watch speaks. Ready means that
work flows: database and broker answer.
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

    def beat(self, loop: str) -> None:
        """Note that a loop got through."""
        self._beats[loop] = time.monotonic()

    def age(self, loop: str) -> float:
        """Seconds since a loop last got through."""
        return time.monotonic() - self._beats.get(loop, self._began)


def live(pulse: Pulse) -> Sequence[str]:
    """Say what a restart might mend."""
    problems = []
    if pulse.age("event loop") > STALE_SECONDS:
        problems.append("The event loop has not turned for a minute.")
    if pulse.age("sweep") > SILENT_SECONDS:
        problems.append("No complete list of the objects for fifteen minutes.")
    return problems


def ready(pulse: Pulse, publisher: Publisher) -> Sequence[str]:
    """Say what keeps work from flowing."""
    problems = []
    if pulse.age("mirror") > STALE_SECONDS:
        problems.append("The database does not answer.")
    if publisher.problem is not None:
        problems.append(publisher.problem)
    return problems
