"""Whether a PDF's text layer is text, or something that only looks like it. Pure."""

from collections.abc import Sequence

from receipt_worker.extraction import dates, money
from receipt_worker.extraction.lines import Line

LEAST_CHARACTERS = 40
LEAST_ALONE = 20  # on a page without pictures, where the layer is all there is to read
PRINTABLE_SHARE = 0.9
_PRIVATE_USE = range(0xE000, 0xF900)
_REPLACEMENT = "\ufffd"


def has_text(lines: Sequence[Line]) -> bool:
    """Whether there is a layer worth distrusting."""
    return sum(len(line.text) for line in lines) >= LEAST_CHARACTERS


def is_usable(lines: Sequence[Line], *, has_pictures: bool) -> bool:
    """Whether a page can be read from its layer.

    It is text: enough of it, nearly all printable, mostly letters and digits. On a page with
    pictures it holds an amount or a date as well, or it may be a stamp over a scan.
    """
    if has_pictures:
        return _is_text(lines, least=LEAST_CHARACTERS) and _holds_values(lines)
    return _is_text(lines, least=LEAST_ALONE)


def _is_text(lines: Sequence[Line], *, least: int) -> bool:
    text = "\n".join(line.text for line in lines)
    if len(text) < least:
        return False
    printable = sum(_is_printed(mark) for mark in text)
    if printable < PRINTABLE_SHARE * len(text):
        return False
    ordinary = sum(mark.isalnum() or mark.isspace() for mark in text)
    return ordinary * 2 >= len(text)


def _holds_values(lines: Sequence[Line]) -> bool:
    return any(money.amounts(line.text) or dates.has_date(line.text) for line in lines)


def _is_printed(mark: str) -> bool:
    return (mark.isprintable() or mark.isspace()) and not (
        ord(mark) in _PRIVATE_USE or mark == _REPLACEMENT
    )
