"""Pages and lines as readers of the cache know them: each line with its place and indent. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from receipt_worker.document import LineRecord, PageRecord
from receipt_worker.extraction import lines

INDENT_STEP = 0.05  # of the printed width: one level of indent


@dataclass(frozen=True)
class Bounds:
    """Where a line stands, in pixels of the page image; the origin is top left."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class PrintedArea:
    """The part of the page's width that is printed on."""

    left: int
    width: int


@dataclass(frozen=True)
class Indent:
    """How far a line begins behind the leftmost one; ratio and level of the printed width."""

    pixels: int
    ratio: float
    level: int


@dataclass(frozen=True)
class Layout:
    """A line's place."""

    bounds: Bounds
    page: PrintedArea
    indent: Indent


@dataclass(frozen=True)
class CachedLine:
    """One printed row; confidence 0..100."""

    line_number: int
    text: str
    confidence: float
    layout: Layout
    line_type: str
    department: str | None = None  # headings of departments are not told from other lines


@dataclass(frozen=True)
class CachedPage:
    """One page with the lines of the selected reading; width in pixels of the page image."""

    page_number: int
    width: int
    lines: tuple[CachedLine, ...]


def page(record: PageRecord) -> CachedPage:
    """Give every line of a page its place."""
    area = _printed_area(record.lines)
    return CachedPage(
        record.page_number, record.width, tuple(_line(line, area) for line in record.lines)
    )


def _printed_area(records: Sequence[LineRecord]) -> PrintedArea:
    if not records:
        return PrintedArea(0, 0)
    around = lines.around(record.box for record in records)
    return PrintedArea(around.x, around.width)


def _line(record: LineRecord, area: PrintedArea) -> CachedLine:
    pixels = record.box.x - area.left
    ratio = round(pixels / area.width, 6) if area.width else 0.0
    return CachedLine(
        record.line_number,
        record.text,
        record.confidence,
        Layout(Bounds(*record.box), area, Indent(pixels, ratio, level=round(ratio / INDENT_STEP))),
        record.line_type,
    )
