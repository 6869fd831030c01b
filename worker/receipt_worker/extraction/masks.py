"""Masked card numbers that an engine read as rows of letters: where their last four digits stand.

Tesseract reads ############1234 as HHHRHHHS 234: the mask becomes letters, and the first digit one
of them; RapidOCR loses it. What they are is seen by looking again at their place alone. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Line, Word, around
from receipt_worker.extraction.marks import HIDDEN, KEPT
from receipt_worker.extraction.vocabulary import Vocabulary, alike, has_word, plain

LEAST_MARKS = 8  # of mask and digits together
FEW = 3  # letters of which a mask is read for the most part
FEW_SHARE = 0.7
MARKS = frozenset("*#X")
DOUBTFUL = 80.0  # confidence that the letters of a mask do not reach
CLEAR = 80.0  # confidence of words whose letters are measured
TALL = 1.8  # times its width, what a letter of a till is at most; boxes may hold more than letters
NEAR = 6  # lines above and below in which type is as wide, and a card is named
LONG_WORD = 7  # letters from which a card's word may be misread by one
SHOWN = 12  # marks of a mask as it is written

LEAST_SHARE = 0.75  # of all looks that must see the same four digits
LEAST_LOOKS = 6
LEAST_READINGS = 2
MOST_TOLD = 3  # digits of the four that a reading may have told by itself
_SEEN = re.compile(rf".?(\d{{{KEPT}}})")


class Masked(NamedTuple):
    """The place of a masked number: its line, its words, and where its last digit ends."""

    place: int  # among the lines
    first: int  # among the words of the line
    last: int
    right: int
    middle: int
    letter_width: float
    letter_height: float
    suffix: str  # of the digits, as far as they were read


class Look(NamedTuple):
    """What was seen at one place, cut out in several ways, and what the reading told of it."""

    seen: tuple[str, ...]
    suffix: str

    @property
    def most_seen(self) -> str | None:
        """The digits that most cuttings gave."""
        ranked = Counter(self.seen).most_common(1)
        return ranked[0][0] if ranked else None


def look_of(texts: Iterable[str], masked: Masked) -> Look:
    """Keep four digits that end as the reading told; a last mark of the mask may be before them."""
    found = filter(None, map(_SEEN.fullmatch, texts))
    digits = tuple(match[1] for match in found if match[1].endswith(masked.suffix))
    return Look(digits, masked.suffix)


def find(lines: Sequence[Line], vocabulary: Vocabulary) -> Masked | None:
    """Find the first masked number on a page that a card's word stands beside or near."""
    for place, line in enumerate(lines):
        words = None if money.amounts(line.text) else _masked_words(line)
        near = lines[max(0, place - NEAR) : place + NEAR + 1]
        if words is not None and _is_about_card(line, words.start, near, vocabulary):
            return _measured(line, place, words, near)
    return None


def agreed(looks: Sequence[Look]) -> str | None:
    """Return the digits that nearly all looks saw, at the places that two readings gave.

    One place is enough where every look saw the same, and the reading most of these digits too.
    """
    seen = Counter(digits for look in looks for digits in look.seen)
    if not seen:
        return None
    [(digits, count)] = seen.most_common(1)
    supporting = [look for look in looks if look.most_seen == digits]
    if count < max(LEAST_LOOKS, LEAST_SHARE * seen.total()):
        return None
    told = any(len(look.suffix) >= MOST_TOLD for look in supporting)
    certain = len(supporting) >= LEAST_READINGS or (told and count == seen.total())
    return digits if certain else None


def with_digits(lines: Sequence[Line], masked: Masked, digits: str) -> tuple[Line, ...]:
    """Return the lines with the number as it is printed: a mask and its last four digits."""
    line = lines[masked.place]
    words = line.words[masked.first : masked.last + 1]
    confidence = min(word.confidence for word in words)
    number = Word(HIDDEN * SHOWN + digits, confidence, around(word.box for word in words))
    changed = (*line.words[: masked.first], number, *line.words[masked.last + 1 :])
    return tuple(
        replace(line, words=changed) if place == masked.place else each
        for place, each in enumerate(lines)
    )


def _masked_words(line: Line) -> range | None:
    """Find letters of a mask with the digits behind them, up to a sequence number or a name."""
    words = line.words
    last = len(words)
    while last > 1 and _is_behind(words[last - 1].text):
        last -= 1
    for first in range(last):
        text = "".join(word.text for word in words[first:last])
        guessed = [word for word in words[first:last] if not _is_plain(word.text)]
        if (
            len(text) >= LEAST_MARKS
            and all(word.confidence < DOUBTFUL for word in guessed)
            and _is_mask(text[:-KEPT] if text[-KEPT:].isdigit() else text[: 1 - KEPT])
            and text[1 - KEPT :].isalnum()
        ):
            return range(first, last)
    return None


def _is_behind(text: str) -> bool:
    """Say whether this stands behind a number: of the card in its row, its network, a speck."""
    sequence = text.isdigit() and len(text) == KEPT and text.startswith("00")
    return sequence or not any(mark.isalnum() for mark in text) or text.startswith("(")


def _is_plain(text: str) -> bool:
    """Say whether this may be part of a masked number as it stands, however sure the engine is."""
    return set(text.upper().rstrip("0123456789")) <= MARKS


def _is_mask(text: str) -> bool:
    few = sum(count for _, count in Counter(text.upper()).most_common(FEW))
    marks = all(mark.isalpha() or mark in MARKS for mark in text)
    return marks and few >= FEW_SHARE * len(text)


def _is_about_card(line: Line, first: int, near: Sequence[Line], vocabulary: Vocabulary) -> bool:
    """Say whether nothing or a label stands in front, and a card is named here or near."""
    labels = plain(" ".join(word.text for word in line.words[:first])).split()[-2:]
    words = vocabulary.card_words | {phrase for phrase, _ in vocabulary.world.networks}
    if labels and not (words | vocabulary.card_numbers).intersection(labels):
        return False
    return any(has_word(each.text, words) or _is_nearly_said(each, words) for each in near)


def _is_nearly_said(line: Line, words: AbstractSet[str]) -> bool:
    long = [word for word in plain(line.text).split() if len(word) >= LONG_WORD]
    return any(alike(wanted, word) for word in long for wanted in words)


def _measured(line: Line, place: int, words: range, near: Sequence[Line]) -> Masked | None:
    """Measure the type around it, as the letters of the mask are no measure."""
    clear = [
        word
        for each in near
        for word in each.words
        if word.confidence >= CLEAR and len(word.text) > FEW and word.text.isalnum()
    ]
    if not clear:
        return None
    sure = [word for word in line.words if word.confidence >= CLEAR] or [line.words[words[-1]]]
    text = "".join(word.text for word in line.words[words.start : words.stop])
    digits = len(text) - len(text.rstrip("0123456789"))
    width = median(word.box.width / len(word.text) for word in clear)
    return Masked(
        place=place,
        first=words.start,
        last=words.stop - 1,
        right=line.words[words.stop - 1].box.right,
        middle=round(median(word.box.y + word.box.height / 2 for word in sure)),
        letter_width=width,
        letter_height=min(median(word.box.height for word in clear), TALL * width),
        suffix=text[len(text) - min(digits, KEPT) :],
    )
