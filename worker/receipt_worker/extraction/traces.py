"""Texts with the shape of a date that are none, yet speak for one: no year, or a digit misread.

Card terminals print the day without its year, and engines lose the last digit at the edge of the
paper. A trace never is a date; it only helps to choose among those that were read. Pure.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word

_SHAPE = re.compile(
    r"(?<![\d.,/])(?P<first>\d{1,2})\s?(?P<s>[./,\-])\s?(?P<second>\d{1,2})\s?(?:(?P=s)|[.,])"
    r"(?:\s?(?P<year>\d{1,4}))?(?!\d|\s?[:/\-])"
)
_YEAR_DIGITS = (2, 4)


class Trace(NamedTuple):
    """The numbers as printed; the year is empty, cut off or whole."""

    first: str
    second: str
    year: str


def traces(
    lines: Sequence[Line], found: Sequence[DateFound], vocabulary: Vocabulary
) -> tuple[Trace, ...]:
    """Find what looks like a date outside of the dates found; other dates leave none."""
    return tuple(
        Trace(match["first"], match["second"], match["year"] or "")
        for line in lines
        if not has_word(line.text, vocabulary.other_dates)
        for match in _SHAPE.finditer(line.text)
        if not _is_taken(match, line, found)
    )


def speaks_for(trace: Trace, day: date) -> bool:
    """Say whether day and month are the same where the year is cut off, else all but one digit."""
    parts = f"{day.day:02}{day.month:02}", f"{day.month:02}{day.day:02}"
    read = trace.first.zfill(2) + trace.second.zfill(2)
    if len(trace.year) not in _YEAR_DIGITS:
        return read in parts
    year = f"{day.year}"[-len(trace.year) :]
    return any(sum(map(str.__ne__, read + trace.year, part + year)) <= 1 for part in parts)


def _is_taken(match: re.Match[str], line: Line, found: Sequence[DateFound]) -> bool:
    return any(
        each.line is line and each.span.start < match.end() and match.start() < each.span.stop
        for each in found
    )
