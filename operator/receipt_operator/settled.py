"""Which objects show their request as it is: a look need not compute their status again.

Of one that shows its end next to nothing is kept: there may be very many, and they rest.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from receipt_contract.requests import RequestSpec
from receipt_contract.status import QueuePlace
from receipt_operator.board import Board
from receipt_operator.facts import Obstacle
from receipt_operator.observed import Observed
from receipt_operator.register.rows import ObjectKey, Request
from receipt_operator.turns import Places

FRESH_SECONDS = 10.0  # after which the clock alone may have changed what is to be shown


class Basis(NamedTuple):
    """What the status of a request is computed from, the clock and its object aside."""

    request: Request
    obstacle: Obstacle | None
    queued: bool
    place: QueuePlace | None


@dataclass(frozen=True, slots=True)
class Past:
    """What is kept of an object that shows the end of its request; the register has the rest."""

    object_uid: str
    generation: int
    spec: RequestSpec
    finished_at: datetime

    def speaks_of(self, observed: Observed) -> bool:
        """Whether the object is still the one that shows it."""
        return (observed.uid, observed.generation) == (self.object_uid, self.generation)


class Settled:
    """By object, what its status was last computed from and since when."""

    def __init__(self, board: Board, places: Places) -> None:
        """Take where obstacles and places are noted; nothing is settled yet."""
        self._board = board
        self._places = places
        self._known: dict[ObjectKey, tuple[Basis, float]] = {}

    def basis_of(self, request: Request) -> Basis:
        """Return what the status of a request is computed from now."""
        request_id = request.request_id
        return Basis(
            request,
            self._board.obstacle(request_id),
            self._board.is_queued(request_id),
            self._places.of(request_id),
        )

    def is_settled(self, key: ObjectKey, request: Request) -> bool:
        """Whether an object shows its request as it is now."""
        basis, since = self._known.get(key, (None, 0.0))
        return basis == self.basis_of(request) and time.monotonic() - since < FRESH_SECONDS

    def note(self, key: ObjectKey, basis: Basis) -> None:
        """Note that an object shows what was computed from this."""
        self._known[key] = (basis, time.monotonic())

    def forget(self, key: ObjectKey) -> None:
        """Have the next look compute an object's status."""
        self._known.pop(key, None)
