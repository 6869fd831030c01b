"""How fast the receipts of each request end, from the last two minutes."""

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

from receipt_contract.status import EtaBasis
from receipt_operator.facts import Pace
from receipt_operator.register.rows import Request

SPAN = timedelta(minutes=2)
SHORTEST_SPAN_SECONDS = 3.0
SPACING = timedelta(seconds=5)  # between samples that are kept


class Paces:
    """Samples of ended counts by request; forgets what has finished."""

    def __init__(self) -> None:
        """Start without a sample."""
        self._samples: dict[str, deque[tuple[datetime, int]]] = {}

    def sample(self, requests: list[Request], now: datetime) -> None:
        """Take one sample of every active request."""
        self._samples = {
            request.request_id: self._samples.get(request.request_id, deque())
            for request in requests
        }
        for request in requests:
            samples = self._samples[request.request_id]
            if len(samples) > 1 and samples[-1][0] - samples[-2][0] < SPACING:
                samples.pop()
            samples.append((now, request.counts.ended))
            while samples[0][0] < now - SPAN:
                samples.popleft()

    def of(self, request: Request) -> Pace | None:
        """Estimate a request's pace; None until there is enough to go by."""
        samples = self._samples.get(request.request_id)
        return estimate(list(samples), request) if samples else None


def from_earlier(request: Request, history: Sequence[Request]) -> Pace | None:
    """Estimate the first time left of a request from the latest earlier one that read anything."""
    if request.total is None or request.counts.ended or not request.publishable:
        return None
    past = next((one for one in history if one.counts.done and one.active_seconds > 0), None)
    if past is None:
        return None
    per_second = past.counts.ended / past.active_seconds
    return Pace(0.0, request.total / per_second, EtaBasis.EARLIER_RUNS)


def estimate(samples: list[tuple[datetime, int]], request: Request) -> Pace | None:
    """Estimate from (time, ended) samples, oldest first."""
    (first, ended_then), (last, ended_now) = samples[0], samples[-1]
    span = (last - first).total_seconds()
    if span < SHORTEST_SPAN_SECONDS:
        return None
    per_second = max(ended_now - ended_then, 0) / span
    if per_second == 0 or request.total is None:
        return Pace(per_minute=per_second * 60, seconds_left=None)
    left = request.total - request.counts.ended
    return Pace(per_minute=per_second * 60, seconds_left=left / per_second)
