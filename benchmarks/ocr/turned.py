"""Receipts turned by 90, 180 and 270 degrees: whether they are read as they are read upright."""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from io import BytesIO
from statistics import mean
from typing import NamedTuple

from PIL import Image

from benchmarks.ocr import measuring
from benchmarks.ocr.labels import Label
from benchmarks.ocr.measuring import Measured
from benchmarks.ocr.report import Figures, Row
from receipt_worker.settings import ReadingSettings

TURNS = (90, 180, 270)  # degrees counter-clockwise
COMPARED = ("merchant_name", "transaction_date", "total", "currency", "card_last4")
MAIN = {"transaction_date", "total"}
ROWS = (
    Row("same fields", "same", "%"),
    Row("same total and date", "same_main", "%"),
    Row("CPU s upright", "cpu_upright", "s", more_is_better=False),
    Row("CPU s turned", "cpu_turned", "s", more_is_better=False),
    Row("turned receipts", "receipts", ""),
)


class Turned(NamedTuple):
    """One receipt at one turn beside the same upright."""

    turn: int
    upright: Measured
    measured: Measured

    @property
    def differences(self) -> dict[str, tuple[object, object]]:
        """Name the fields that are read in another way, with both readings."""
        pairs = {
            name: (_value(self.upright, name), _value(self.measured, name)) for name in COMPARED
        }
        return {name: (one, other) for name, (one, other) in pairs.items() if one != other}


def read(
    chosen: Sequence[Label], settings: ReadingSettings, *, readers: int, today: date
) -> list[Turned]:
    """Read a sample at every turn."""
    sample = measuring.sample(chosen)

    def at(turn: int) -> Sequence[Measured]:
        content = partial(_turned, turn=turn)
        run = measuring.run(sample, settings, readers=readers, today=today, content=content)
        return run.measured

    upright = at(0)
    return [
        Turned(turn, one, other)
        for turn in TURNS
        for one, other in zip(upright, at(turn), strict=True)
    ]


def figures(read: Sequence[Turned]) -> Figures:
    """Sum up."""
    return {
        "same": 100.0 * mean(not one.differences for one in read),
        "same_main": 100.0 * mean(not MAIN & set(one.differences) for one in read),
        "cpu_upright": mean(one.upright.cost.cpu_seconds for one in read),
        "cpu_turned": mean(one.measured.cost.cpu_seconds for one in read),
        "receipts": len(read),
    }


def misses(read: Sequence[Turned]) -> Iterator[str]:
    """Name every value that a turn changed."""
    for one in read:
        for name, (upright, turned) in one.differences.items():
            yield f"{one.upright.label.name} by {one.turn}: {name} {turned!r}, upright {upright!r}"


def _turned(label: Label, *, turn: int) -> bytes:
    """Turn the pixels; without loss, so that nothing else differs."""
    stream = BytesIO()
    with Image.open(label.path) as picture:
        picture.rotate(turn, expand=True).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def _value(measured: Measured, name: str) -> str | None:
    value = getattr(measured.reading.extraction, name) if measured.reading else None
    return None if value is None else str(value)
