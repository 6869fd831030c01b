"""Which of several readings' values to take, field by field. Pure.

Votes choose values; whether they are certain is the gate's business.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Generic, TypeVar

from receipt_worker.extraction import traces
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.lines import Found
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.receipt import Findings
from receipt_worker.extraction.totals import TotalFound
from receipt_worker.rounds import RoundReading, Support, picture_of, support, trust

T = TypeVar("T")

TRACE_VOTE = 0.5
CLOSE_POINTS = 20  # of a merchant's score, for each reading with nearly the same name
LEAST_ALIKE = 0.75  # share of letters from which two names are the same one, read differently


@dataclass(frozen=True)
class Choice(Generic[T]):
    """One value, the reading it is taken from, and who read the same or another one."""

    value: T
    reading: RoundReading
    support: Support
    readings: int  # that gave any value

    @property
    def dissent(self) -> int:
        """How many readings gave another value."""
        return self.readings - self.support.readings


def total(readings: Sequence[RoundReading]) -> Choice[TotalFound] | None:
    """Choose by proof first, then by engines that agree, then by how far they are believed."""
    return _chosen(
        [(reading, reading.findings.totals.best) for reading in readings],
        same=lambda found: found.value,
        rank=lambda found, reading: (
            found.proven and not reading.findings.totals.contradicted,
            found.proven,
        ),
        then=lambda found, _: (len(found.evidence),),
    )


def day(readings: Sequence[RoundReading]) -> Choice[DateFound] | None:
    """Choose the date most engines saw anywhere, then the one read most surely and most often."""
    best = [reading.findings.day.value for reading in readings if reading.findings.day]
    return _chosen(
        [(reading, found) for reading in readings for found in reading.findings.days],
        same=lambda found: found.value,
        votes=lambda found: sum(_votes(readings, found.value).values()),
        then=lambda found, _: (
            best.count(found.value),
            not found.ambiguous,
            found.labelled,
            found.confidence,
        ),
    )


def _votes(readings: Sequence[RoundReading], value: date) -> dict[object, float]:
    """Count one vote a picture: readings of the same one misread it in the same way."""
    votes: dict[object, float] = {}
    for place, reading in enumerate(readings):
        seen = picture_of(reading, place)
        votes[seen] = max(_vote(reading, value), votes.get(seen, 0.0))
    return votes


def _vote(reading: RoundReading, value: date) -> float:
    """Return how surely a reading saw a date (0..1), half a vote for a trace of it."""
    sure = [found.confidence for found in reading.findings.days if found.value == value]
    if sure:
        return max(sure) / 100
    traced = any(traces.speaks_for(trace, value) for trace in reading.findings.traces)
    return TRACE_VOTE if traced else 0.0


def merchant(readings: Sequence[RoundReading]) -> Choice[MerchantFound] | None:
    """Choose the name most engines agree on, else the one its place speaks for most."""
    return _chosen(
        [(reading, reading.findings.merchant) for reading in readings],
        same=lambda found: found.name.casefold(),
        then=lambda found, reading: (
            found.score + CLOSE_POINTS * _closeness(found, reading, readings),
            found.line.confidence,
        ),
    )


def _closeness(
    found: MerchantFound, reading: RoundReading, readings: Sequence[RoundReading]
) -> float:
    """Add up how alike the names of other readings are: each one misreads other letters."""
    others = [
        other.findings.merchant.name
        for other in readings
        if other is not reading and other.findings.merchant is not None
    ]
    ratios = [
        SequenceMatcher(None, _letters(found.name), _letters(name)).ratio() for name in others
    ]
    return sum(ratio for ratio in ratios if ratio >= LEAST_ALIKE)


def _letters(name: str) -> str:
    return "".join(mark for mark in name.casefold() if mark.isalnum())


def other(readings: Sequence[RoundReading], name: str) -> Choice[Found] | None:
    """Choose one of the fields that nothing is judged by."""
    return _chosen(
        [(reading, reading.findings.others.get(name)) for reading in readings],
        same=lambda found: found.value,
        then=lambda found, _: (found.line.confidence_of(found.span),),
    )


def base(readings: Sequence[RoundReading], chosen: Choice[TotalFound] | None) -> RoundReading:
    """Return the reading whose sums go with the total; without one the most believed."""
    if chosen is not None:
        return chosen.reading
    return max(readings, key=lambda reading: trust(reading.engine))


def items(readings: Sequence[RoundReading], worth: Decimal | None) -> RoundReading:
    """Return the reading whose items add up to the total, or to a sum before it."""

    def rank(reading: RoundReading) -> tuple[bool, int, int]:
        found = reading.findings
        return (_adds_up(found, worth), trust(reading.engine), len(found.items))

    return max(readings, key=rank)


def _adds_up(found: Findings, worth: Decimal | None) -> bool:
    if not found.items or worth is None:
        return False
    return added(found.items) in {worth, found.amount("subtotal")}


def added(bought: Sequence[Item]) -> Decimal:
    """Return the sum of the items."""
    return sum((item.total for item in bought), Decimal(0))


def _nothing(_value: object, _reading: RoundReading) -> tuple[float, ...]:
    return ()


def _even(_value: object) -> float:
    return 0.0


def _distinct(readings: Sequence[RoundReading]) -> list[RoundReading]:
    """Count a reading once, however often it has a value."""
    return list({id(reading): reading for reading in readings}.values())


def _chosen(
    given: Sequence[tuple[RoundReading, T | None]],
    *,
    same: Callable[[T], Hashable],
    then: Callable[[T, RoundReading], tuple[float, ...]],
    rank: Callable[[T, RoundReading], tuple[float, ...]] = _nothing,
    votes: Callable[[T], float] = _even,
) -> Choice[T] | None:
    """Rank values: `rank`, engines, `votes`, readings, `then`; the earliest among equals."""
    held = [(reading, value) for reading, value in given if value is not None]
    if not held:
        return None
    supported = {
        same(value): support(
            _distinct([reading for reading, each in held if same(each) == same(value)])
        )
        for _, value in held
    }
    reading, value = max(
        held,
        key=lambda pair: (
            rank(pair[1], pair[0]),
            supported[same(pair[1])][:2],
            votes(pair[1]),
            supported[same(pair[1])],
            trust(pair[0].engine),
            then(pair[1], pair[0]),
        ),
    )
    return Choice(value, reading, supported[same(value)], len({id(each) for each, _ in held}))
