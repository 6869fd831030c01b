"""Odd files, one at a time: how each ended, in what time and memory, and what it left behind."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.ocr import expected, labels
from benchmarks.ocr.expected import OddFile
from benchmarks.ocr.report import MIB, Figures, Row
from receipt_worker import extract
from receipt_worker.extract import ExtractedFile
from receipt_worker.reader import Reader
from receipt_worker.reader_process import Cost
from receipt_worker.settings import ReadingSettings

ROWS = (
    Row("ended as wanted", "wanted", "%"),
    Row("slowest", "slowest", "s", more_is_better=False),
    Row("CPU s a file, mean", "cpu_mean", "s", more_is_better=False),
    Row("largest process", "memory", "MiB", more_is_better=False),
    Row("odd files", "files", ""),
)


class Ended(NamedTuple):
    """One file: how it ended, what it took, and what is wrong about that."""

    odd: OddFile
    found: ExtractedFile
    cost: Cost
    objections: tuple[str, ...]


def read(settings: ReadingSettings, *, today: date) -> list[Ended]:
    """Read every odd file, in one reader."""
    with Reader(settings) as reader:
        return [_read(odd, reader, settings, today) for odd in expected.odd_files()]


def _read(odd: OddFile, reader: Reader, settings: ReadingSettings, today: date) -> Ended:
    path, most = labels.FOLDER / odd.name, settings.limits.max_bytes
    found = extract.extract_file(path, reader, max_bytes=most, today=today)
    wrong = (*expected.objections(found, odd), *expected.excesses(found, odd, reader.cost))
    left = [f"left {path.name} behind" for path in settings.work_folder.glob("*/read-*")]
    return Ended(odd, found, reader.cost, (*wrong, *left))


def figures(ended: Sequence[Ended]) -> Figures:
    """Sum up."""
    return {
        "wanted": 100.0 * mean(not one.objections for one in ended),
        "slowest": max(one.found.seconds for one in ended),
        "cpu_mean": mean(one.cost.cpu_seconds for one in ended),
        "memory": max(one.cost.peak_bytes for one in ended) / MIB,
        "files": len(ended),
    }


def files(ended: Sequence[Ended]) -> list[dict[str, Any]]:
    """Tell each file: how it ended and what it took."""
    return [
        {
            "file": one.odd.name,
            "expect": one.odd.expect,
            "ended": one.found.error or one.found.document()["extraction_status"],
            "seconds": one.found.seconds,
            "cost": asdict(one.cost),
            "objections": one.objections,
        }
        for one in ended
    ]


def misses(ended: Sequence[Ended]) -> Iterator[str]:
    """Name every file that ended otherwise than wanted."""
    for one in ended:
        for objection in one.objections:
            yield f"{one.odd.name} ({one.odd.expect}): {objection}"
