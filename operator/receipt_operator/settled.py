"""Which objects show their request as it is, so that a look need not compute their status again."""

import time
from typing import NamedTuple

from receipt_contract.status import QueuePlace
from receipt_operator.board import Board
from receipt_operator.facts import Obstacle
from receipt_operator.register.rows import ObjectKey, Request
from receipt_operator.turns import Places

FRESH_SECONDS = 10.0  # after which the clock alone may have changed what is to be shown


class Basis(NamedTuple):
    """What the status of a request is computed from, the clock and its object aside."""

    request: Request
    obstacle: Obstacle | None
    queued: bool
    place: QueuePlace | None


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
