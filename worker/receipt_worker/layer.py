"""Whether a PDF's text layer is text, or something that only looks like it. Pure."""

from collections.abc import Sequence

from receipt_worker.extraction import dates, money
from receipt_worker.extraction.lines import Line

LEAST_CHARACTERS = 40
PRINTABLE_SHARE = 0.9
_PRIVATE_USE = range(0xE000, 0xF900)
_REPLACEMENT = "\ufffd"


def has_text(lines: Sequence[Line]) -> bool:
    """Whether there is a layer worth distrusting."""
    return sum(len(line.text) for line in lines) >= LEAST_CHARACTERS


def is_usable(lines: Sequence[Line]) -> bool:
    """Enough characters, nearly all of them printable, nearly all words of letters and digits."""
    text = "\n".join(line.text for line in lines)
    if len(text) < LEAST_CHARACTERS:
        return False
    printable = sum(_is_text(mark) for mark in text)
    if printable < PRINTABLE_SHARE * len(text):
        return False
    ordinary = sum(mark.isalnum() or mark.isspace() for mark in text)
    return ordinary * 2 >= len(text)


def holds_values(lines: Sequence[Line]) -> bool:
    """Whether an amount or a time of day is written in the layer."""
    return any(money.amounts(line.text) or dates.times(line.text) for line in lines)


def _is_text(mark: str) -> bool:
    return (mark.isprintable() or mark.isspace()) and not (
        ord(mark) in _PRIVATE_USE or mark == _REPLACEMENT
    )
