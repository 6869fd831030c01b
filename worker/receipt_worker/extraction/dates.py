"""Dates and times in printed text, and which of them is the day of the purchase.

Today is an argument. A date that could be read two ways is marked, never guessed silently.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.money import repaired
from receipt_worker.extraction.tables import DateOrder
from receipt_worker.extraction.vocabulary import REMEMBERED_LINES, Vocabulary, has_word, plain

_CENTURY = 100
_TWO_DIGIT_BASE = 2000
_MONTHS_A_YEAR = 12
_FAR_FUTURE_DAYS = 1  # clocks of tills run ahead of ours, and zones differ
_LAST_DAY = 31
_CENTURIES = {"19", "20"}
_GUESSED = 50.0  # confidence of a date that had to be put right: it wants witnesses

# A separator; the second is the same, or a comma for a point, as they are misread.
_S = r"\s?(?P<s>[./\-'\u2019,])\s?"
_AGAIN = r"\s?(?:(?P=s)|[.,])\s?"
_END = r"(?!\d|\s?[/\-]\s?\d)"
_NOT_HOURS = r"(?!\s?[:h]\s?\d)"  # 19.05. 16:04 is a day without a year beside a time
_LONG_YEAR = rf"(?P<y>(?:19|20)\d\d)(?:{_END}|(?=\d{{1,2}}\s?:\s?\d\d))"  # a time may be glued on
_SHORT_YEAR = rf"(?P<y>\d\d)(?:{_NOT_HOURS}{_END}|(?=\d\d\s?:\s?\d\d))"
_START = r"(?<![\d.,/])"
_NAME = r"(?P<name>[^\W\d_]{3,10})"
_DAY = r"(?:(?<!\d)(?P<d>\d{1,2})|(?<!\w)(?P<misread>[\dODQIlZSGB]{2}))"
_PARTED = r"\d{1,2}|[01]\s\d"  # a month between separators may be torn apart
_YEAR_FIRST = rf"{_START}(?P<y>(?:19|20)\d\d){_S}(?P<m>\d{{1,2}}){_AGAIN}(?P<d>\d{{1,2}})(?!\d)"
_YEAR_LAST = tuple(
    pattern
    for year in (_LONG_YEAR, _SHORT_YEAR)
    for pattern in (
        rf"{_START}(?P<a>\d{{1,2}}){_S}(?P<b>{_PARTED}){_AGAIN}{year}",
        rf"{_DAY}(?:st|nd|rd|th|er)?[\s./\-]*(?:de\s)?{_NAME}[\s./\-,']*(?:de\s)?{year}",
        rf"(?<![^\W\d_]){_NAME}[\s.\-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s,.\-/']+{year}",
    )
)
# Eight digits without separators are a date only right in front of a time; never both ways.
_CLOCK = r"(?=\s?\d{1,2}\s?:\s?\d\d)"
_RUN_TOGETHER = (
    rf"(?<![\d.,])(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d){_CLOCK}",
    rf"(?<![\d.,])(?P<a>\d\d)(?P<b>\d\d)(?P<y>(?:19|20)\d\d){_CLOCK}",
)
_PATTERNS = tuple(
    re.compile(one, re.IGNORECASE) for one in (_YEAR_FIRST, *_YEAR_LAST, *_RUN_TOGETHER)
)
# What stands behind the first half of a long year whose second half was misread or torn off.
_CUT_YEAR = re.compile(r"\w|[)\]}|!?]\s?\d|\s\d\d(?!\s?[:.h]|\d)")
_JOINED = re.compile(r"\w+(?P<s>[/\-])[^\W\d_]+(?P=s)\w+")
# Letters read for digits of a day, and which ones they may be.
_MISREAD = dict(zip("ODQIlZSGB", ("0", "0", "0", "1", "1", "2", "5", "06", "8"), strict=True))
_TIME = re.compile(
    r"(?<![\d:])(?P<h>[01]?\d|2[0-3])\s?(?:[:;]\s?|(?<=\d\d)h(?=\d\d))(?P<m>[0-5]\d)(?:\s?[:;.]\s?(?P<s>[0-5]\d))?(?!\d)"
    r"\s?(?P<half>[AaPp]\.?[Mm])?"
)


@dataclass(frozen=True)
class DateFound:
    """One printed date; `ambiguous` when day and month could change places.

    `confidence` (0..100) is that of its worst word.
    """

    value: date
    raw: str
    ambiguous: bool
    labelled: bool
    confidence: float
    line: Line
    span: range


def dates(
    lines: Sequence[Line],
    vocabulary: Vocabulary,
    *,
    order: DateOrder,
    today: date,
    oldest_years: int,
) -> tuple[DateFound, ...]:
    """Find every plausible date of a purchase; lines about expiry and the like are left out."""
    found = []
    for position, line in enumerate(lines):
        before = lines[position - 1].text if position else ""
        other = _other_dates_from(line.text, vocabulary)
        labelled = has_word(f"{before} {line.text}", vocabulary.date_labels) or bool(
            times(line.text)
        )
        for value, span, ambiguous, guessed in _readings(line.text, vocabulary, order=order):
            if (
                span.start < other
                and (today - value).days + _FAR_FUTURE_DAYS >= 0
                and (today.year - value.year <= oldest_years)
            ):
                raw = line.text[span.start : span.stop].strip()
                confidence = min(line.confidence_of(span), _GUESSED if guessed else 100.0)
                found.append(DateFound(value, raw, ambiguous, labelled, confidence, line, span))
    return tuple(found)


def _other_dates_from(text: str, vocabulary: Vocabulary) -> int:
    """Return where dates begin that are of something else: at a word that says so.

    What stands in front of the word counts only with its time: a period begins with a date as well.
    """
    if not has_word(text, vocabulary.other_dates):
        return len(text)
    clock = _TIME.search(text)
    begun = clock is not None and not has_word(text[: clock.end()], vocabulary.other_dates)
    return clock.start() if clock is not None and begun else 0


def best(found: Sequence[DateFound]) -> DateFound | None:
    """Choose the date of the purchase: labelled or beside a time, then most often printed."""
    if not found:
        return None
    values = [item.value for item in found]
    return max(
        found,
        key=lambda item: (item.labelled, values.count(item.value), -found.index(item)),
    )


def has_date(text: str) -> bool:
    """Say whether something in a text looks like a date."""
    whole = repaired(text)
    return any(pattern.search(whole) for pattern in _PATTERNS)


def times(text: str) -> tuple[time, ...]:
    """Find the times of day in a text, from left to right."""
    return tuple(_time(match) for match in _TIME.finditer(text))


def time_of(lines: Sequence[Line], day: DateFound | None) -> Found | None:
    """Return the time beside the date, else the only one on the receipt."""
    if day is not None and (match := _TIME.search(day.line.text)):
        return _found_time(match, day.line, ("beside_date",))
    found = [
        _found_time(match, line, ("alone",))
        for line in lines
        for match in _TIME.finditer(line.text)
    ]
    return found[0] if len({item.value for item in found}) == 1 else None


def _found_time(match: re.Match[str], line: Line, evidence: tuple[str, ...]) -> Found:
    span = range(match.start(), match.end())
    return Found(_time(match).isoformat(), match[0].strip(), line, span, evidence)


class _Reading(NamedTuple):
    """What a date-shaped text says; `guessed` when a letter had to be put right."""

    value: date
    span: range
    ambiguous: bool
    guessed: bool


@lru_cache(maxsize=REMEMBERED_LINES)
def _readings(text: str, vocabulary: Vocabulary, *, order: DateOrder) -> tuple[_Reading, ...]:
    found: list[_Reading] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(repaired(text)):
            taken = (reading.span for reading in found)
            if any(match.start() in span or match.end() - 1 in span for span in taken):
                continue
            reading = _reading(match, vocabulary, order=order)
            if reading is not None:
                found.append(reading)
    return tuple(found)


def _reading(match: re.Match[str], vocabulary: Vocabulary, *, order: DateOrder) -> _Reading | None:
    parts, span = match.groupdict(), range(match.start(), match.end())
    year = _year(parts["y"])
    if parts["y"] in _CENTURIES and _CUT_YEAR.match(match.string, match.end()):
        return None  # 19.01.20Z4 is no day of 2020
    if "a" in parts:
        second = int(parts["b"].replace(" ", ""))
        told = _numeric(int(parts["a"]), second, year=year, order=order, raw=match[0])
        return _Reading(told[0], span, told[1], guessed=False) if told else None
    day = int(parts["d"]) if parts["d"] else _misread_day(parts["misread"])
    month = int(parts["m"]) if "m" in parts else _month(parts["name"], vocabulary)
    guessed = not parts["d"] or not month
    if not month and _JOINED.fullmatch(match[0]):
        month = _misread_month(parts["name"], vocabulary)
    value = _day(year, month, day) if month and day else None
    return _Reading(value, span, ambiguous=False, guessed=guessed) if value else None


def _misread_day(text: str) -> int | None:
    """Read letters for digits when only one day of a month comes out: GS is 05, as 65 is none."""
    marks = product(*(mark if mark.isdigit() else _MISREAD.get(mark, "") for mark in text))
    days = {day for mark in marks if 1 <= (day := int("".join(mark))) <= _LAST_DAY}
    return days.pop() if len(days) == 1 else None


def _misread_month(name: str, vocabulary: Vocabulary) -> int | None:
    """Name the only month that is one letter away: Ocl is October, Jub may be two."""
    read = plain(name)
    near = {month for wanted, month in vocabulary.months.items() if _one_letter_off(wanted, read)}
    return near.pop() if len(near) == 1 else None


def _one_letter_off(wanted: str, read: str) -> bool:
    return len(wanted) == len(read) and sum(map(str.__ne__, wanted, read)) == 1


def _numeric(
    first: int, second: int, *, year: int, order: DateOrder, raw: str
) -> tuple[date, bool] | None:
    dotted = "." in raw and "/" not in raw and "-" not in raw  # 12.05.2020 is written day first
    month_first = order is DateOrder.MONTH_FIRST and not dotted
    both_possible = max(first, second) <= _MONTHS_A_YEAR and first != second
    day_first_value = _day(year, second, first)
    month_first_value = _day(year, first, second)
    if order is DateOrder.UNKNOWN and not dotted:
        value = day_first_value or month_first_value
        return (value, both_possible) if value else None
    value = month_first_value if month_first else day_first_value
    return (value, False) if value else None


def _year(digits: str) -> int:
    year = int(digits)
    return year + _TWO_DIGIT_BASE if year < _CENTURY else year


def _month(name: str, vocabulary: Vocabulary) -> int | None:
    return vocabulary.months.get(plain(name))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _time(match: re.Match[str]) -> time:
    hour = int(match["h"])
    half = (match["half"] or "").casefold().replace(".", "")
    if half == "pm" and hour < _MONTHS_A_YEAR:
        hour += 12
    if half == "am" and hour == 12:  # noqa: PLR2004 - 12 AM is midnight
        hour = 0
    return time(hour, int(match["m"]), int(match["s"] or 0))
