"""How many messages each request may send now. Pure.

Every request that may publish gets a slot first, then priority decides, then requests of one
priority take turns, so that a large request never starves a small one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from receipt_contract.requests import Priority
from receipt_operator.register.rows import Request

ORDER = (Priority.HIGH, Priority.NORMAL, Priority.LOW)


@dataclass(frozen=True)
class Demand:
    """What one request could send."""

    request_id: str
    priority: Priority
    waiting: int  # items that wait for their first send
    in_flight: int  # items that hold a slot already
    limit: int  # its own maxInFlight

    @property
    def want(self) -> int:
        """How many slots it can use now."""
        return max(min(self.waiting, self.limit - self.in_flight), 0)


def demand_of(request: Request, *, default_limit: int) -> Demand:
    """Return what a request could send; `default_limit` is for one that names no maxInFlight."""
    return Demand(
        request.request_id,
        Priority(request.knobs.priority or Priority.NORMAL),
        waiting=request.counts.planned,
        in_flight=request.counts.in_flight,
        limit=request.knobs.max_in_flight or default_limit,
    )


def allocate(demands: Sequence[Demand], cap: int) -> dict[str, int]:
    """Share what is free of the global window `cap`; requests without a slot are absent.

    A request with nothing in flight gets one even where the window is full.
    """
    wants = {demand.request_id: demand.want for demand in demands if demand.want}
    granted = {
        demand.request_id: 1 if demand.in_flight == 0 else 0 for demand in demands if demand.want
    }
    left = cap - sum(demand.in_flight for demand in demands) - sum(granted.values())
    for priority in ORDER:
        turn = [
            demand.request_id for demand in demands if demand.priority is priority and demand.want
        ]
        left = _take_turns(turn, wants, granted, left)
    return {request_id: slots for request_id, slots in granted.items() if slots}


def _take_turns(
    turn: Sequence[str], wants: dict[str, int], granted: dict[str, int], left: int
) -> int:
    """Give the requests of one priority equal shares while slots are left; return what is left."""
    while left > 0:
        hungry = [request_id for request_id in turn if granted[request_id] < wants[request_id]]
        if not hungry:
            break
        lowest = min(granted[request_id] for request_id in hungry)
        behind = [request_id for request_id in hungry if granted[request_id] == lowest]
        # Those behind catch up by one; where none is behind, all rise together.
        share = 1 if len(behind) < len(hungry) else max(left // len(hungry), 1)
        for request_id in behind:
            more = min(share, wants[request_id] - granted[request_id], left)
            granted[request_id] += more
            left -= more
    return left
