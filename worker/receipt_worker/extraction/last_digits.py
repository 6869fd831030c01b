"""The last four digits of the card, as a till prints them behind a mask; never guessed. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from receipt_worker.extraction import card, marks
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary

_NEAR = 2  # lines from one that names a card to a mask of few marks that stands alone
_SEQUENCE = "0000"  # of the card, printed behind its number
_NOT_MORE = r"(?!\d|[\-./:,]\d)"  # as of a date, a time or an amount
_FOUR = re.compile(rf"[ .\-]?(\d{{{marks.KEPT}}}){_NOT_MORE}")
# Engines read rows of asterisks as x, k, e or quotes; only believed on a line about a card.
_BLUR = r"xXkKeE*#\u00ab\u00bb&%\s"
_BLURRED = re.compile(rf"(?<![{_BLUR}])[{_BLUR}]{{5,}}+(?=O*\d)([\dO]{{4}})(?![\d.,]){_NOT_MORE}")


class LastDigits(NamedTuple):
    """Four digits, and the line in which they stand."""

    digits: str
    line: Line


def printed(lines: Sequence[Line], vocabulary: Vocabulary) -> LastDigits | None:
    """Return the last four digits of the card, when all masked numbers agree on them."""
    named = [card.names_card(line.text, vocabulary) for line in lines]
    found = [
        LastDigits(digits, line)
        for place, line in enumerate(lines)
        for digits in _of_line(
            line.text,
            about_card=named[place],
            near=any(named[max(0, place - _NEAR) : place + _NEAR + 1]),
        )
        if digits != _SEQUENCE
    ]
    return found[0] if len({one.digits for one in found}) == 1 else None


def last4(lines: Sequence[Line], vocabulary: Vocabulary) -> str | None:
    """Return the digits alone."""
    found = printed(lines, vocabulary)
    return found.digits if found else None


def _of_line(text: str, *, about_card: bool, near: bool) -> Iterator[str]:
    """Find digits behind masks; few marks are one only where a card is named."""
    for row in marks.rows(text):
        match = _FOUR.match(text, row.stop)
        if match is None or marks.is_decoration(text, row, match.end()):
            continue
        alone = near and row.start == 0 and match.end() == len(text)
        if marks.count(text, row) >= (marks.FEW if about_card or alone else marks.LEAST):
            yield match[1]
    if about_card:
        yield from (match[1].replace("O", "0") for match in _BLURRED.finditer(text))
