"""Builders of printed lines, as an engine that makes no mistake would give them."""

from datetime import date

from receipt_worker.extraction import vocabulary
from receipt_worker.extraction.lines import Box, Line, Word
from receipt_worker.extraction.receipt import Assumptions, Findings, read

TODAY = date(2026, 3, 1)
ASSUMPTIONS = Assumptions(today=TODAY, oldest_years=20)
VOCABULARY = vocabulary.load()
LETTER_WIDTH, ROW_HEIGHT = 10, 24


def make_line(text: str, *, number: int = 1, confidence: float = 95.0, page: int = 1) -> Line:
    """Return a line whose words stand side by side."""
    words, x = [], 0
    for part in text.split():
        box = Box(x, number * ROW_HEIGHT, len(part) * LETTER_WIDTH, ROW_HEIGHT - 4)
        words.append(Word(part, confidence, box))
        x = box.right + LETTER_WIDTH
    return Line(page, number, tuple(words))


def make_lines(*texts: str, confidence: float = 95.0) -> tuple[Line, ...]:
    """Return lines below each other."""
    return tuple(
        make_line(text, number=number, confidence=confidence)
        for number, text in enumerate(texts, start=1)
    )


def find(*texts: str, confidence: float = 95.0) -> Findings:
    """Read all fields of these lines."""
    return read(make_lines(*texts, confidence=confidence), VOCABULARY, ASSUMPTIONS)
