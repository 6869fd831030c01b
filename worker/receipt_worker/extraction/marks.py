"""Rows of marks in which tills hide the digits of a card, and the digits that still stand there.

Only what a mask stands beside; whole numbers are found in `card_numbers`. Pure.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

HIDDEN = "*"
KEPT = 4

FEW = 2  # marks that are a mask where a card is named
LEAST = 4  # marks that are one anywhere
_LEAST_GLUED = 8  # crosses behind a letter: VISAXXXXXXXX1234 has a mask, MAXX 0521 has none
_LEAST_HEAD = 6  # digits in front of a mask that nothing stands behind, where no card is named
_GROUP = 4  # digits in front of a mask of few marks, where a card is named
_LONGEST = 19  # digits of a card
_USUAL = 16

_CROSSES = "xX"
_BETWEEN = " -."
DASH = r"\-\u2010-\u2015\u2212"
# What tills print, and what engines read for asterisks.
MARK = rf"[{_CROSSES}*#\u2022\u25cf\u00d7\u2217\uff0a\u6c34\u7c73]"
_ROW = re.compile(rf"{MARK}(?:(?: - |[ .\-])?{MARK})*+")
# Only where a card is named, as they lead to amounts elsewhere.
_SOFT_ROW = re.compile(r"[._\u00b7\u2026\-](?: ?[._\u00b7\u2026\-])*+")
_LEAST_SOFT = 3
_TAIL = re.compile(rf"(?: [{DASH}] |[ .{DASH}])?(?P<digits>\d(?:[ {DASH}]?\d)*+)")
_PHONE = re.compile(r"0\d*[ \-]\d")
_BEHIND_NUMBER = re.compile(r"00\d\d|(?:0[1-9]|1[0-2])[23]\d")  # of the card in its row; expiry
_DECORATED = re.compile(rf" {MARK}{{{FEW},}}")


def rows(text: str) -> Iterator[range]:
    """Find the rows of marks; a letter of a word is none."""
    for match in _ROW.finditer(text):
        start, end = match.span()
        marks = sum(mark not in _BETWEEN for mark in match[0])
        if marks < _LEAST_GLUED and text[start] in _CROSSES and text[start - 1 : start].isalpha():
            start += len(match[0]) - len(match[0].lstrip(_CROSSES).lstrip(_BETWEEN))
        if marks < LEAST and text[end - 1] in _CROSSES and text[end : end + 1].isalpha():
            end = start + len(text[start:end].rstrip(_CROSSES).rstrip(_BETWEEN))
        if start < end:
            yield range(start, end)


def count(text: str, row: range) -> int:
    """Count the marks of a row."""
    return sum(mark not in _BETWEEN for mark in text[row.start : row.stop])


def is_decoration(text: str, row: range, end: int) -> bool:
    """Say whether marks stand apart on both sides of what ends there, as around a headline."""
    closing = _DECORATED.match(text, end)
    apart = text[row.stop : row.stop + 1] == " "
    return apart and closing is not None and closing.end() == len(text)


def strike(text: str, *, about_card: bool) -> str:
    """Strike out what a mask left to be seen of a number, but its last four digits."""
    for row in rows(text):
        if _hides(text, row, count(text, row), about_card=about_card):
            text = _struck_around(text, row, count(text, row), about_card=about_card)
    for match in _SOFT_ROW.finditer(text) if about_card else ():
        row, marks = range(*match.span()), len(match[0].replace(" ", ""))
        if marks >= _LEAST_SOFT and _digits(text, row) >= _GROUP:
            text = _struck_around(text, row, marks, about_card=about_card)
    return text


def struck(text: str) -> str:
    """Hide every digit but the last four."""
    return hidden(text, [place for place, mark in enumerate(text) if mark.isdecimal()][:-KEPT])


def hidden(text: str, places: Iterable[int]) -> str:
    """Hide what stands at these places."""
    marks = list(text)
    for place in places:
        marks[place] = HIDDEN
    return "".join(marks)


def _hides(text: str, row: range, marks: int, *, about_card: bool) -> bool:
    """Say whether a row of marks hides digits of a card, by what stands in front and behind."""
    before, tail = _digits(text, row), _TAIL.match(text, row.stop)
    behind = sum(mark.isdecimal() for mark in tail["digits"]) if tail else 0
    if behind == 0 and before <= KEPT and _is_behind_mask(text, _head(text, row.start)):
        return False  # the last four of a number, beside a masked date
    if marks == 1 and (tail is None or not text[row.start - 1 : row.start].isdecimal()):
        return False  # 123456 2x 5.00
    if about_card:
        shown = behind >= KEPT and (before > 0 or marks >= FEW)
        return shown or before >= (1 if marks >= LEAST else _GROUP)
    if marks < LEAST:
        return False
    if before == 0 and tail is not None:
        other = _PHONE.match(tail["digits"]) or is_decoration(text, row, tail.end())
        return behind >= KEPT and not other
    glued = text[row.start - 1 : row.start].isdecimal()
    return behind >= KEPT or (
        before >= _LEAST_HEAD and (glued or _may_be_card(text, _head(text, row.start)))
    )


def _digits(text: str, row: range) -> int:
    """Count the digits in front of a row of marks."""
    return sum(mark.isdecimal() for mark in text[_head(text, row.start) : row.start])


def _may_be_card(text: str, start: int) -> bool:
    """Say whether a card's number may begin here; not a headline between marks."""
    return text[start] in "23456" and not _is_behind_mask(text, start)


def _is_behind_mask(text: str, start: int) -> bool:
    return re.search(MARK, text[max(0, start - 2) : start]) is not None


def _head(text: str, end: int) -> int:
    """Return where the digits start that end here, with what stands between their groups."""
    start = place = end
    while place > 0 and start - place <= len(_BETWEEN):
        place -= 1
        if text[place].isdecimal():
            start = place
        elif text[place] not in _BETWEEN:
            break
    return start


def _struck_around(text: str, row: range, marks: int, *, about_card: bool) -> str:
    """Hide the digits in front of a mask, and those behind it but four; all marks become one."""
    start = _head(text, row.start)
    head = re.sub(r"\d", HIDDEN, text[start : row.start])
    mask = re.sub(r"[^ .\-]", HIDDEN, text[row.start : row.stop])
    if not re.search(MARK, text[row.start : row.stop]):
        mask = re.sub(r"\S", HIDDEN, mask)
    tail = _TAIL.match(text, row.stop)
    end = tail.end() if tail else row.stop
    unseen = marks + head.count(HIDDEN)
    behind = _struck_tail(text[row.stop : end], unseen, marks, about_card=about_card)
    return text[:start] + head + mask + behind + text[end:]


def _struck_tail(tail: str, unseen: int, marks: int, *, about_card: bool) -> str:
    """Keep four digits: of the first group, or of one in which the number goes on."""
    groups = list(re.finditer(r"\d+", tail))
    if not groups or len(groups[0][0]) < KEPT:
        return struck(tail)
    if len(groups[0][0]) == KEPT and not about_card:  # 6004 0000: the second is another number
        return tail
    kept = 0
    most = _USUAL if marks >= LEAST else _LONGEST
    for place, group in enumerate(groups[1:], start=1):
        alike = len(group[0]) == len(groups[0][0]) == _GROUP
        goes_on = alike and unseen + _GROUP * (place + 1) <= most
        if not goes_on or _BEHIND_NUMBER.fullmatch(group[0]):
            break
        kept = place
    ends = accumulate((len(group[0]) for group in groups), initial=unseen)
    places = [
        at
        for place, (group, before) in enumerate(zip(groups, ends, strict=False))
        if place < kept or (place > kept and before < _USUAL and not _is_sequence(group[0]))
        for at in range(*group.span())
    ]
    return hidden(tail, [*places, *range(groups[kept].start(), groups[kept].end() - KEPT)])


def _is_sequence(group: str) -> bool:
    """Say whether this is the number of the card in its row, printed behind its digits."""
    return len(group) == KEPT and group.startswith("00")
