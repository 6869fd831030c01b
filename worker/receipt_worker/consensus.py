"""One result out of several readings, field by field, and the gate to `complete`. Pure.

A reading is one engine on one variant of every page. Votes choose values; only identities between
printed amounts, or a second independent reading, make them certain.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeVar

from receipt_contract.results import ExtractionStatus
from receipt_worker.document import Extraction, FieldRecord, ItemRecord, ReviewReason
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.receipt import Findings
from receipt_worker.extraction.totals import TotalFound

T = TypeVar("T")

# Readings that must give the same date, unless a text layer gave it. One engine repeats its
# mistakes: two of its readings are enough only where it had no doubt.
AGREEING = 3
AGREEING_CLEARLY = 2
CLEAR = 90.0  # confidence of every word of the date

# Shares of confidence: what is proven, not how sure an engine felt.
_TOTAL_SHARE, _DATE_SHARE = Decimal("0.5"), Decimal("0.3")
_OTHER_SHARE = Decimal("0.1")


@dataclass(frozen=True)
class PageReading:
    """Which pass read which page."""

    page: int
    pass_id: int


@dataclass(frozen=True)
class RoundReading:
    """One reading of the whole document; `given` when every page had a text layer."""

    pages: tuple[PageReading, ...]
    given: bool
    lines: tuple[Line, ...]
    findings: Findings

    def pass_of(self, page: int) -> int | None:
        """Return the pass that read a page."""
        return next((item.pass_id for item in self.pages if item.page == page), None)


@dataclass(frozen=True)
class Decision:
    """The result and the reading to show with it."""

    extraction: Extraction
    selected: int  # place among the readings


@dataclass(frozen=True)
class _Chosen:
    """The values that readings agreed on most, each with the place of its reading."""

    total_at: int
    total: TotalFound | None
    day_at: int
    day: DateFound | None
    merchant_at: int
    merchant: MerchantFound | None
    currency: str | None


def decide(readings: Sequence[RoundReading], *, signs: frozenset[ReviewReason]) -> Decision:
    """Vote and judge; `signs` are reasons for review seen outside of the fields."""
    if ReviewReason.UNREADABLE in signs:
        return Decision(
            Extraction(ExtractionStatus.UNREADABLE, (ReviewReason.UNREADABLE,), Decimal(0)), 0
        )
    chosen = _Chosen(
        *_total(readings),
        *_date(readings),
        *_merchant(readings),
        currency=_most_common([reading.findings.currency for reading in readings]),
    )
    date_reasons = _date_reasons(readings, chosen.day)
    reasons = signs | date_reasons | _total_reasons(readings, chosen.total_at, chosen.total)
    if chosen.merchant is None:
        reasons |= {ReviewReason.MISSING_FIELD}
    if chosen.currency is None:
        reasons |= {ReviewReason.CURRENCY_UNKNOWN}
    extraction = _extraction(readings, chosen, reasons, dated=not date_reasons)
    return Decision(extraction, chosen.total_at)


def _extraction(
    readings: Sequence[RoundReading],
    chosen: _Chosen,
    reasons: frozenset[ReviewReason],
    *,
    dated: bool,
) -> Extraction:
    """Put the result together; sums and items come from the reading that gave the total."""
    base = readings[chosen.total_at].findings
    return Extraction(
        status=ExtractionStatus.REVIEW if reasons else ExtractionStatus.COMPLETE,
        review_reasons=tuple(sorted(reasons)),
        confidence=_confidence(chosen, dated=dated),
        merchant_name=chosen.merchant.name if chosen.merchant else None,
        transaction_date=chosen.day.value if chosen.day else None,
        transaction_time=_most_common([reading.findings.at for reading in readings]),
        total=chosen.total.value if chosen.total else None,
        currency=chosen.currency,
        subtotal=base.totals.subtotal,
        total_tax=base.totals.tax,
        card_last4=_only([reading.findings.card_last4 for reading in readings]),
        payment_method=_most_common([reading.findings.payment_method for reading in readings]),
        receipt_number=_most_common([reading.findings.receipt_number for reading in readings]),
        items=_items(base),
        fields=_fields(readings, chosen),
    )


def _total(readings: Sequence[RoundReading]) -> tuple[int, TotalFound | None]:
    """Choose by proof first, then by the number of readings with the same best value."""
    found = [reading.findings.totals.best for reading in readings]
    votes = Counter(total.value for total in found if total is not None)
    return _best(found, lambda total: (total.proven, votes[total.value], len(total.evidence)))


def _date(readings: Sequence[RoundReading]) -> tuple[int, DateFound | None]:
    found = [reading.findings.day for reading in readings]
    votes = Counter(day.value for day in found if day is not None)
    return _best(found, lambda day: (votes[day.value], day.labelled))


def _merchant(readings: Sequence[RoundReading]) -> tuple[int, MerchantFound | None]:
    """Choose the name most readings agree on, else the one its place speaks for most."""
    found = [reading.findings.merchant for reading in readings]
    votes = Counter(item.name.casefold() for item in found if item is not None)
    return _best(
        found, lambda item: (votes[item.name.casefold()], item.score, item.line.confidence)
    )


def _best(
    found: Sequence[T | None], rank: Callable[[T], tuple[float, ...]]
) -> tuple[int, T | None]:
    """Return place and value of the highest rank, the earliest among equals."""
    held = [(place, item) for place, item in enumerate(found) if item is not None]
    return max(held, key=lambda pair: rank(pair[1]), default=(0, None))


def _total_reasons(
    readings: Sequence[RoundReading], place: int, total: TotalFound | None
) -> set[ReviewReason]:
    if total is None:
        return {ReviewReason.MISSING_FIELD}
    reasons = set()
    if total.value <= 0:
        reasons.add(ReviewReason.POSSIBLE_REFUND)
    if readings[place].findings.totals.contradicted:
        reasons.add(ReviewReason.IDENTITY_FAILED)
    given_twice = readings[place].given and bool(total.evidence)
    if not total.proven and not given_twice:
        reasons.add(ReviewReason.TOTAL_UNPROVEN)
    others = [reading.findings.totals.best for reading in readings]
    if any(
        other is not None and other.value != total.value and (other.proven or not total.proven)
        for other in others
    ):
        reasons.add(ReviewReason.PASSES_DISAGREE)
    return reasons


def _date_reasons(readings: Sequence[RoundReading], day: DateFound | None) -> set[ReviewReason]:
    if day is None:
        return {ReviewReason.MISSING_FIELD}
    reasons = set()
    every: set[date] = set().union(*(reading.findings.days for reading in readings))
    if day.ambiguous or every != {day.value}:
        reasons.add(ReviewReason.DATE_AMBIGUOUS)
    if not _date_is_agreed(readings, day):
        reasons.add(ReviewReason.PASSES_DISAGREE)
    return reasons


def _date_is_agreed(readings: Sequence[RoundReading], day: DateFound) -> bool:
    agreeing = [
        (reading.given, found.confidence >= CLEAR)
        for reading in readings
        if (found := reading.findings.day) is not None and found.value == day.value
    ]
    clear = sum(is_clear for _, is_clear in agreeing)
    given = any(is_given for is_given, _ in agreeing)
    return given or clear >= AGREEING_CLEARLY or len(agreeing) >= AGREEING


def _confidence(chosen: _Chosen, *, dated: bool) -> Decimal:
    """Share of what makes a receipt complete that is proven."""
    held = (
        (_TOTAL_SHARE, chosen.total is not None and chosen.total.proven),
        (_DATE_SHARE, dated),
        (_OTHER_SHARE, chosen.merchant is not None),
        (_OTHER_SHARE, chosen.currency is not None),
    )
    return sum((share for share, holds in held if holds), Decimal(0))


def _fields(readings: Sequence[RoundReading], chosen: _Chosen) -> dict[str, FieldRecord]:
    fields = {}
    if (total := chosen.total) is not None:
        reading = readings[chosen.total_at]
        fields["total"] = _record(
            str(total.value),
            total.source.line,
            reading,
            raw=total.source.amount.raw,
            evidence=tuple(sorted(total.evidence)),
            candidates=tuple(str(other.value) for other in reading.findings.totals.candidates),
        )
    if (day := chosen.day) is not None:
        reading = readings[chosen.day_at]
        fields["transaction_date"] = _record(
            day.value.isoformat(),
            day.line,
            reading,
            raw=day.raw,
            evidence=("labelled",) if day.labelled else (),
            candidates=tuple(sorted(value.isoformat() for value in reading.findings.days)),
        )
    if (merchant := chosen.merchant) is not None:
        fields["merchant_name"] = _record(
            merchant.name, merchant.line, readings[chosen.merchant_at], raw=merchant.line.text
        )
    return fields


def _record(  # noqa: PLR0913 - a record has this many parts
    value: str,
    line: Line,
    reading: RoundReading,
    *,
    raw: str,
    evidence: tuple[str, ...] = (),
    candidates: tuple[str, ...] = (),
) -> FieldRecord:
    return FieldRecord(
        value=value,
        raw_text=raw,
        page=line.page,
        box=line.box,
        pass_id=reading.pass_of(line.page),
        evidence=evidence,
        candidates=candidates,
    )


def _items(findings: Findings) -> tuple[ItemRecord, ...]:
    return tuple(
        ItemRecord(item.description, item.quantity, item.unit_price, item.total)
        for item in findings.items
    )


def _most_common(values: Sequence[T | None]) -> T | None:
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _only(values: Sequence[T | None]) -> T | None:
    """Return the value of all readings; None when they differ: no digit beats a wrong one."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None
