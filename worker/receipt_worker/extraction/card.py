"""Card numbers: everything but the last four digits is struck out of a text.

Runs before anything is stored, logged or judged, so that no later step can leak what it never saw.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word

HIDDEN = "*"
KEPT = 4

_MASK = r"[xX*#\u2022\u25cf\u00d7\u2217\uff0a\u6c34\u7c73]"  # also what engines read for asterisks
# Grouped as printed on cards: 4-4-4-4(-3), 4-6-5, or one run of 15, 16 or 19 digits.
_GROUPED = re.compile(r"(?<![\d.,])\d{4}([ \-.])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?(?!\d)")
_AMEX = re.compile(r"(?<![\d.,])3\d{3}([ \-.])\d{6}\1\d{5}(?!\d)")
_RUN = re.compile(r"(?<![\d.,])[3-6]\d{14,18}(?!\d)")
# On a line about a card, any longer number is taken for one.
_ON_CARD_LINE = re.compile(r"(?<![\d.,])\d(?:[ \-]?\d){11,18}(?![\d.,]?\d)")
# A number that the till masked itself: digits may stand on both sides of the mask.
_MASKED = re.compile(
    r"(?P<head>(?:\d[ \-]?){0,8})"
    rf"(?P<mask>(?:{_MASK}[ \-]?){{4,16}})"
    r"(?P<tail>\d[\d \-]{2,10}\d)"
)
_LAST4 = re.compile(rf"{_MASK}[ \-]?{_MASK}[ \-]?(\d{{4}})(?!\d)")
# Engines read rows of asterisks as x, k, e or quotes; only believed on a line about a card.
_BLURRED_LAST4 = re.compile(r"[xXkKeE*#\u00ab\u00bb&%\s]{5,}([\dO]{4})(?![\d.,])")
_TAIL = re.compile(r"(?<![\d.,])[3-6]\d*(?:[ \-]\d+)*[ \-]?$")
_HEAD = re.compile(r"\d+(?:[ \-]\d+)*(?![\d.,])")
_CARD_LENGTHS = {15, 16, 19}
_SEQUENCE = "0000"  # of the card, printed behind its number
_LUHN_BASE = 9


def redacted(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[Line, ...]:
    """Return the lines with card numbers struck out in every word; places stay the same.

    A number that goes on in the next line is struck out in both.
    """
    whole = [_redacted_line(line, vocabulary) for line in lines]
    for place in range(len(whole) - 1):
        whole[place : place + 2] = _redacted_pair(whole[place], whole[place + 1])
    return tuple(whole)


def redact(text: str, *, about_card: bool) -> str:
    """Strike out card numbers; the length stays the same. `about_card`: the line names a card."""
    text = _MASKED.sub(_keep_tail_of_mask, text)
    for pattern in (_GROUPED, _AMEX):
        text = pattern.sub(lambda match: _struck(match[0]), text)
    text = _RUN.sub(lambda match: _struck(match[0]) if _luhn(match[0]) else match[0], text)
    if about_card:
        text = _ON_CARD_LINE.sub(lambda match: _struck(match[0]), text)
    return text


def last4(lines: Sequence[Line], vocabulary: Vocabulary) -> str | None:
    """Return the last four digits of the card, when all masked numbers agree on them."""
    found = {match[1] for line in lines for match in _LAST4.finditer(line.text)}
    found |= {
        match[1].replace("O", "0")
        for line in lines
        if has_word(line.text, vocabulary.card_words)
        for match in _BLURRED_LAST4.finditer(line.text)
    }
    found.discard(_SEQUENCE)
    return found.pop() if len(found) == 1 else None


def _redacted_line(line: Line, vocabulary: Vocabulary) -> Line:
    return _with_text(
        line, redact(line.text, about_card=has_word(line.text, vocabulary.card_words))
    )


def _redacted_pair(above: Line, below: Line) -> list[Line]:
    """Strike out a number that begins at the end of one line and ends in the next one."""
    tail, head = _TAIL.search(above.text), _HEAD.match(below.text)
    if tail is None or head is None:
        return [above, below]
    both = tail[0] + head[0]
    digits = re.sub(r"\D", "", both)
    if len(digits) not in _CARD_LENGTHS or not _luhn(digits):
        return [above, below]
    struck = _struck(both)
    return [
        _with_text(above, above.text[: tail.start()] + struck[: len(tail[0])]),
        _with_text(below, struck[len(tail[0]) :] + below.text[head.end() :]),
    ]


def _with_text(line: Line, text: str) -> Line:
    """Return the line with another text of the same length, word by word."""
    if text == line.text:
        return line
    words, start = [], 0
    for word in line.words:
        end = start + len(word.text)
        words.append(word._replace(text=text[start:end]))
        start = end + 1
    return replace(line, words=tuple(words))


def _keep_tail_of_mask(match: re.Match[str]) -> str:
    head = re.sub(r"\d", HIDDEN, match["head"])
    mask = re.sub(_MASK, HIDDEN, match["mask"])
    tail = match["tail"]
    groups = re.split(r"[ \-]", tail)
    if len(groups[0]) == KEPT:  # 6004 0000: the second group is another number
        return head + mask + tail
    return head + mask + _struck(tail)


def _struck(text: str) -> str:
    """Hide every digit but the last four."""
    left = sum(mark.isdigit() for mark in text) - KEPT
    marks = []
    for mark in text:
        hide = mark.isdigit() and left > 0
        left -= hide
        marks.append(HIDDEN if hide else mark)
    return "".join(marks)


def _luhn(digits: str) -> bool:
    total = 0
    for place, mark in enumerate(reversed(digits)):
        value = int(mark) * (1 + place % 2)
        total += value - _LUHN_BASE if value > _LUHN_BASE else value
    return total % 10 == 0
