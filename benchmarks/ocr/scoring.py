"""Whether what was read is what is printed. Pure.

Totals are compared as numbers, dates as dates. A merchant is right when letters and digits, without
case, are alike by 0.9; a German one when the brand stands in the name alike by 0.9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from enum import StrEnum

from benchmarks.ocr.labels import Collection, Label
from receipt_contract.results import ExtractionStatus
from receipt_worker.document import Extraction, Reading

ALIKE = 0.9
CENT = Decimal("0.01")


class Measure(StrEnum):
    """What is right or wrong about one receipt."""

    TOTAL = "total"
    DATE = "date"
    MERCHANT = "merchant"
    TOTAL_AND_DATE = "total and date"
    CARD = "card digits"
    ITEMS = "item sum"


@dataclass(frozen=True)
class Miss:
    """One value that is not what is printed, and what became of the printed one."""

    file: str
    measure: Measure
    wanted: str
    found: str
    reason: str


@dataclass(frozen=True)
class Score:
    """One receipt: what is right, left out where nobody knows; and what a person is told."""

    label: Label
    right: dict[Measure, bool]
    is_complete: bool
    is_wrong_though_complete: bool
    has_invented_card: bool
    misses: tuple[Miss, ...]


def score(label: Label, reading: Reading | None) -> Score:
    """Judge one reading; None is a file that could not be read."""
    found = reading.extraction if reading else _NOTHING
    judged = right(label, found)
    complete = found.status is ExtractionStatus.COMPLETE
    doubtless = judged.get(Measure.TOTAL, True) and judged.get(Measure.DATE, True)
    return Score(
        label=label,
        right=judged,
        is_complete=complete,
        is_wrong_though_complete=complete and not doubtless,
        has_invented_card=found.card_last4 is not None
        and found.card_last4 not in label.card_digits,
        misses=tuple(_misses(label, found, judged, reading)),
    )


_NOTHING = Extraction(ExtractionStatus.UNREADABLE, (), Decimal(0))


def right(label: Label, found: Extraction) -> dict[Measure, bool]:
    """Judge every value that is labelled."""
    judged = {}
    if label.total is not None and not label.is_total_doubtful:
        judged[Measure.TOTAL] = found.total == label.total
    if label.day is not None:
        judged[Measure.DATE] = found.transaction_date == label.day
    if Measure.TOTAL in judged and Measure.DATE in judged:
        judged[Measure.TOTAL_AND_DATE] = judged[Measure.TOTAL] and judged[Measure.DATE]
    if label.merchant is not None:
        judged[Measure.MERCHANT] = is_merchant(label, found.merchant_name or "")
    if label.card_digits:
        judged[Measure.CARD] = found.card_last4 in label.card_digits
    if label.items_sum is not None:
        judged[Measure.ITEMS] = abs(_items_sum(found) - label.items_sum) <= CENT
    return judged


def _items_sum(found: Extraction) -> Decimal:
    return sum((item.total for item in found.items), Decimal(0))


def is_merchant(label: Label, found: str) -> bool:
    """Compare a name with the labelled one, of which a German label is the brand only."""
    wanted = label.merchant or ""
    if label.collection is Collection.GERMAN:
        return _best_part(_plain(wanted), _plain(found)) >= ALIKE
    return is_same_name(wanted, found)


def is_same_name(wanted: str, found: str) -> bool:
    """Compare two names by their letters and digits."""
    return _alike(_plain(wanted), _plain(found)) >= ALIKE


def _plain(text: str) -> str:
    return "".join(mark for mark in text.casefold() if mark.isalnum())


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _best_part(wanted: str, given: str) -> float:
    """Likeness of the part of `given` that is most like `wanted`."""
    starts = range(max(1, len(given) - len(wanted) + 1))
    return max(_alike(wanted, given[start : start + len(wanted)]) for start in starts)


def _misses(
    label: Label, found: Extraction, judged: dict[Measure, bool], reading: Reading | None
) -> Sequence[Miss]:
    pairs = {
        Measure.TOTAL: (label.total, found.total),
        Measure.DATE: (label.day, found.transaction_date),
        Measure.MERCHANT: (label.merchant, found.merchant_name),
        Measure.CARD: (", ".join(sorted(label.card_digits)), found.card_last4),
        Measure.ITEMS: (label.items_sum, _items_sum(found)),
    }
    return [
        Miss(label.name, measure, str(wanted), str(given), _reason(measure, label, reading))
        for measure, (wanted, given) in pairs.items()
        if not judged.get(measure, True)
    ]


def _reason(measure: Measure, label: Label, reading: Reading | None) -> str:
    """Tell misreading from a wrong choice, as far as the text of all passes tells it."""
    if reading is None:
        return "not read at all"
    seen = [one.engine for one in reading.passes if _is_printed_in(measure, label, one.text)]
    if seen:
        return f"read by {' and '.join(sorted(set(seen)))}, not chosen"
    return "adds up differently" if measure is Measure.ITEMS else "read by no engine"


def _is_printed_in(measure: Measure, label: Label, text: str) -> bool:
    match measure:
        case Measure.TOTAL:
            return str(label.total).replace(".", "") in text.replace(".", "").replace(",", "")
        case Measure.DATE:
            return label.day is not None and _holds_day(label, text)
        case Measure.MERCHANT:
            return _plain(label.merchant or "") in _plain(text)
        case Measure.CARD:
            return any(digits in text for digits in label.card_digits)
        case _:
            return False


def _holds_day(label: Label, text: str) -> bool:
    """Look for day, month and year as numbers in this or the other order."""
    day = label.day
    if day is None:
        return False
    digits = "".join(mark if mark.isdigit() else " " for mark in text).split()
    orders = ((day.day, day.month), (day.month, day.day))
    years = {day.year, day.year % 100}
    numbers = [int(part) for part in digits]
    return any(
        (first, second) in orders and year in years
        for first, second, year in zip(numbers, numbers[1:], numbers[2:], strict=False)
    )
