"""Words with places, and the rows they form on a page.

Rows are formed over the whole page by vertical overlap, because engines put a label and its amount
into different blocks. Boxes are pixels of the page image (points for a PDF's text layer).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import NamedTuple

CONFIDENT = 60.0  # engine confidence (0..100) from which a word is taken for read, not guessed
MOST_WORDS = 2000  # of a page that are read: small print has 1000, and rules compare words
ROW_OVERLAP = 0.5  # share of the lower height that must overlap for two words to share a row


class Box(NamedTuple):
    """Left, top, width, height."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """First column behind the box."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """First row below the box."""
        return self.y + self.height


class Word(NamedTuple):
    """One word; confidence 0..100 as the engine gives it."""

    text: str
    confidence: float
    box: Box


@dataclass(frozen=True)
class Line:
    """One printed row, read from left to right."""

    page: int
    number: int
    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """Mean over the characters."""
        weight = sum(len(word.text) for word in self.words)
        total = sum(word.confidence * len(word.text) for word in self.words)
        return round(total / weight, 3) if weight else 0.0

    def confidence_of(self, span: range) -> float:
        """Confidence of the worst word that has a letter in this part of the text."""
        worst, start = 100.0, 0
        for word in self.words:
            end = start + len(word.text)
            if start < span.stop and end > span.start:
                worst = min(worst, word.confidence)
            start = end + 1
        return worst

    def box_of(self, span: range) -> Box:
        """Return the smallest box around the words that have a letter in this part of the text."""
        inside, start = [], 0
        for word in self.words:
            end = start + len(word.text)
            if start < span.stop and end > span.start:
                inside.append(word.box)
            start = end + 1
        return around(inside) if inside else self.box

    @property
    def box(self) -> Box:
        """The smallest box around all words."""
        return around(word.box for word in self.words)


@dataclass(frozen=True)
class Found:
    """One printed value: as it is kept, as it is printed, and where."""

    value: str
    raw: str
    line: Line
    span: range
    evidence: tuple[str, ...] = ()


def around(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all of them."""
    every = tuple(boxes)
    left, top = min(box.x for box in every), min(box.y for box in every)
    right, bottom = max(box.right for box in every), max(box.bottom for box in every)
    return Box(left, top, right - left, bottom - top)


def rows(words: Sequence[Word], *, page: int) -> tuple[Line, ...]:
    """Group a page's words into lines, top to bottom."""
    groups: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.box.y + word.box.height / 2):
        home = next((group for group in reversed(groups[-3:]) if _same_row(group, word)), None)
        if home is None:
            groups.append([word])
        else:
            home.append(word)
    groups.sort(key=lambda group: median(word.box.y + word.box.height / 2 for word in group))
    return tuple(
        Line(page, number, tuple(sorted(group, key=lambda word: word.box.x)))
        for number, group in enumerate(_rejoined(groups), start=1)
    )


def _rejoined(groups: Sequence[list[Word]]) -> list[list[Word]]:
    """Join neighbours that stand beside each other: the parts of a row that rises or falls."""
    joined: list[list[Word]] = []
    for group in groups:
        if joined and _continue_each_other(joined[-1], group):
            joined[-1] = [*joined[-1], *group]
        else:
            joined.append(group)
    return joined


def _continue_each_other(above: Sequence[Word], below: Sequence[Word]) -> bool:
    apart = all(
        one.box.right <= other.box.x or other.box.right <= one.box.x
        for one in above
        for other in below
    )
    return apart and any(
        _same_row([word for word in above if word.box.x < other.box.x] or above, other)
        or _same_row([word for word in above if word.box.x > other.box.x] or above, other)
        for other in below
    )


def cleaned(found: Sequence[Line]) -> tuple[Line, ...]:
    """Drop what nobody can see and a database may refuse: control marks, halves of characters."""
    lines = [
        (line, tuple(word for word in map(_printable, line.words) if word.text)) for line in found
    ]
    return tuple(replace(line, words=words) for line, words in lines if words)


def _printable(word: Word) -> Word:
    if word.text.isprintable():
        return word
    return word._replace(text="".join(mark for mark in word.text if mark.isprintable()))


def _same_row(group: Sequence[Word], word: Word) -> bool:
    # The nearest neighbour decides, so that a slightly turned row stays together.
    near = min(group, key=lambda other: abs(other.box.x - word.box.x)).box
    overlap = min(near.bottom, word.box.bottom) - max(near.y, word.box.y)
    return overlap >= ROW_OVERLAP * max(1, min(near.height, word.box.height))


def confident_mass(words: Iterable[Word]) -> float:
    """Sum of confidence times length over confident words: how much was truly read."""
    return sum(
        word.confidence * len(word.text)
        for word in words
        if word.confidence >= CONFIDENT and any(mark.isalnum() for mark in word.text)
    )


def letter_height(words: Iterable[Word]) -> float | None:
    """Median height of confident words in pixels, None when there are too few."""
    heights = [
        word.box.height for word in words if word.confidence >= CONFIDENT and len(word.text) > 1
    ]
    return float(median(heights)) if len(heights) >= 5 else None  # noqa: PLR2004 - fewer say nothing
