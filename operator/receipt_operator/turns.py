"""Where requests stand while they wait: for a place in the window, an approval, or another run.

Computed from one look at all of them. Shown slowly: a place that moved a little is no news.
"""

from collections.abc import Iterator, Mapping, Sequence

from receipt_contract.requests import Priority
from receipt_contract.status import QueuePlace
from receipt_operator import window
from receipt_operator.register.rows import ObjectKey, Request, RequestState

REFRESH_SECONDS = 30.0

_RANKS = {priority.value: rank for rank, priority in enumerate(window.ORDER)}


class Places:
    """The place of every request that waits, renewed now and then."""

    def __init__(self, *, cap: int, default_limit: int) -> None:
        """Take the global window, and the window of a request that names none."""
        self._cap = cap
        self._default_limit = default_limit
        self._places: Mapping[str, QueuePlace] = {}
        self._renewed_at = float("-inf")

    def sample(self, active: Sequence[Request], moment: float) -> None:
        """Look at all active requests; `moment` is in seconds of a clock that never jumps."""
        found = places_of(active, cap=self._cap, default_limit=self._default_limit)
        if moment - self._renewed_at >= REFRESH_SECONDS:
            self._places, self._renewed_at = found, moment
        else:  # who waits is news, where is not yet
            self._places = {one: self._places.get(one, place) for one, place in found.items()}

    def of(self, request_id: str) -> QueuePlace | None:
        """Return a request's place; None while it does not wait."""
        return self._places.get(request_id)


def places_of(active: Sequence[Request], *, cap: int, default_limit: int) -> dict[str, QueuePlace]:
    """Return the place of every request that waits now."""
    present = sorted((one for one in active if not one.parked), key=_turn)
    return {
        **dict(_for_approval(present)),
        **dict(_for_another_run(active, present)),
        **dict(_for_slots(present, cap=cap, default_limit=default_limit)),
    }


def _turn(request: Request) -> tuple[object, ...]:
    rank = _RANKS[request.knobs.priority or Priority.NORMAL]
    return (rank, request.created_at, request.request_id)


def _for_approval(present: Sequence[Request]) -> Iterator[tuple[str, QueuePlace]]:
    waiting = [one for one in present if one.awaiting_approval]
    for position, request in enumerate(waiting, start=1):
        yield request.request_id, QueuePlace(position=position, ahead=0)


def _for_another_run(
    active: Sequence[Request], present: Sequence[Request]
) -> Iterator[tuple[str, QueuePlace]]:
    waiting = [
        (request, run_id)
        for request in present
        if request.state is RequestState.PLANNING
        and not request.awaiting_approval
        and (run_id := request.wish.get("target", {}).get("retryFailedOf")) is not None
    ]
    by_run: dict[tuple[ObjectKey, str], list[Request]] = {}
    for request in active if waiting else ():
        by_run.setdefault((request.key, request.run_id), []).append(request)
    for request, run_id in waiting:
        ahead = by_run.get((request.key, run_id), [])
        if ahead:
            left = sum(one.counts.unended for one in ahead)
            yield request.request_id, QueuePlace(position=1, ahead=left)


def _for_slots(
    present: Sequence[Request], *, cap: int, default_limit: int
) -> Iterator[tuple[str, QueuePlace]]:
    """Place those that hold no more than the slot each one gets, while the window is full."""
    sending = [one for one in present if one.publishable]
    in_flight = sum(one.counts.in_flight for one in sending)
    if in_flight < cap:
        return
    position, before = 0, 0
    behind = in_flight
    for request in sending:
        behind -= request.counts.in_flight
        demand = window.demand_of(request, default_limit=default_limit)
        if demand.want and demand.in_flight <= 1:
            position += 1
            yield request.request_id, QueuePlace(position=position, ahead=before + behind)
        before += request.counts.unended
