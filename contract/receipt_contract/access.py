"""Who may do what on the broker where each process has a user of its own.

RabbitMQ asks for `write` to publish to an exchange and for `read` to consume a queue. Exchange and
queue share their names here, so a pattern speaks of both.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from receipt_contract.topology import RESULTS_SIDE, SIDES, WORK_SIDE

NOTHING = "^$"


class BrokerUser(StrEnum):
    """Users of the broker; publishing new receipts is the operator's kind of work too."""

    OPERATOR = "operator"
    WORKER = "worker"
    COLLECTOR = "collector"
    TOPOLOGY = "topology"  # makes exchanges, queues and bindings
    SCALER = "scaler"  # looks at the queue over the management API, with the tag `management`


@dataclass(frozen=True)
class Access:
    """Names that one user may use."""

    configures: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    @property
    def patterns(self) -> dict[str, str]:
        """Return the three permissions as RabbitMQ takes them."""
        return {
            "configure": _pattern(self.configures),
            "write": _pattern(self.writes),
            "read": _pattern(self.reads),
        }


_EVERYTHING = tuple(
    dict.fromkeys(
        name for side in SIDES for name in (*side.exchanges, *(queue.name for queue in side.queues))
    )
)

ACCESS: Mapping[BrokerUser, Access] = MappingProxyType(
    {
        BrokerUser.OPERATOR: Access(writes=(WORK_SIDE.work,)),
        BrokerUser.WORKER: Access(
            writes=(WORK_SIDE.retry, WORK_SIDE.dead, RESULTS_SIDE.work),
            reads=(WORK_SIDE.work,),
        ),
        BrokerUser.COLLECTOR: Access(
            writes=(RESULTS_SIDE.retry, RESULTS_SIDE.dead),
            reads=(RESULTS_SIDE.work, WORK_SIDE.failures, RESULTS_SIDE.failures),
        ),
        # A queue with a dead-letter exchange asks for `write` on that and `read` on itself; a
        # binding asks for `write` on the queue and `read` on the exchange.
        BrokerUser.TOPOLOGY: Access(_EVERYTHING, _EVERYTHING, _EVERYTHING),
        BrokerUser.SCALER: Access(),
    }
)


def _pattern(names: tuple[str, ...]) -> str:
    """Match these names and no other."""
    return f"^({'|'.join(map(re.escape, names))})$" if names else NOTHING
