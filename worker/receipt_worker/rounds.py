"""One reading of a whole document: which engine read which page, and what it found. Plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.receipt import Findings


@dataclass(frozen=True)
class PageReading:
    """Which pass read which page."""

    page: int
    pass_id: int


@dataclass(frozen=True)
class RoundReading:
    """One reading of the whole document; `given` when every page had a text layer."""

    pages: tuple[PageReading, ...]
    given: bool
    lines: tuple[Line, ...]
    findings: Findings
    engine: str = "tesseract"
    variant: str = ""  # of the picture; empty where it is not known

    def pass_of(self, page: int) -> int | None:
        """Return the pass that read a page."""
        return next((item.pass_id for item in self.pages if item.page == page), None)


def picture_of(reading: RoundReading, place: int) -> tuple[str, str | int]:
    """Name the picture that was read: engine and variant; its own where that is not known."""
    return reading.engine, reading.variant or place


class Support(NamedTuple):
    """Who read a value; compared from left to right, so more engines beat more readings."""

    engines: int
    trust: int
    readings: int


# How far an engine is believed against another where nothing else decides; measured on receipts.
_TRUST = {"tesseract": 1, "rapidocr": 2, "pdf_text_layer": 3}


def trust(engine: str) -> int:
    """Return the rank of an engine among others."""
    return _TRUST.get(engine, 1)


def support(readings: Sequence[RoundReading]) -> Support:
    """Count the engines, not only the readings: one engine repeats its mistakes."""
    engines = {reading.engine for reading in readings}
    return Support(len(engines), max(map(trust, engines), default=0), len(readings))
