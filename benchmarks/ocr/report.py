"""Figures of each collection: a table for people, a file for the next run to compare with."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.ocr.labels import Collection
from benchmarks.ocr.measuring import Measured
from benchmarks.ocr.scoring import Measure, Score
from dev.generate import ROOT

STORED = ROOT / ".bench" / "ocr.json"
MIB = 1024 * 1024

Figures = dict[str, float | None]


class Row(NamedTuple):
    """One line of the table: what it is called, its key, its unit, and where up is good."""

    title: str
    key: str
    unit: str
    more_is_better: bool = True


ROWS = (
    *(Row(measure.value, measure.value, "%") for measure in Measure),
    Row("complete", "complete", "%"),
    Row("wrong among complete", "wrong", "", more_is_better=False),
    Row("card digits not printed", "invented", "", more_is_better=False),
    Row("CPU s a receipt, mean", "cpu_mean", "s", more_is_better=False),
    Row("CPU s a receipt, p95", "cpu_p95", "s", more_is_better=False),
    Row("largest process", "memory", "MiB", more_is_better=False),
    Row("receipts", "receipts", ""),
)


def figures(scores: Sequence[Score], measured: Sequence[Measured]) -> dict[str, Figures]:
    """Sum up each collection that there is, by name."""
    found = {}
    for collection in Collection:
        own = [one for one in scores if one.label.collection is collection]
        costs = [one for one in measured if one.label.collection is collection]
        if own:
            found[collection.value] = _figures(own, costs)
    return found


def _figures(scores: Sequence[Score], measured: Sequence[Measured]) -> Figures:
    cpu = sorted(one.cost.cpu_seconds for one in measured)
    shares: Figures = {measure.value: _share(scores, measure) for measure in Measure}
    return shares | {
        "complete": 100.0 * mean(one.is_complete for one in scores),
        "wrong": sum(one.is_wrong_though_complete for one in scores),
        "invented": sum(one.has_invented_card for one in scores),
        "cpu_mean": mean(cpu),
        "cpu_p95": cpu[int(0.95 * (len(cpu) - 1))],
        "memory": max(one.cost.peak_bytes for one in measured) / MIB,
        "receipts": len(scores),
    }


def _share(scores: Sequence[Score], measure: Measure) -> float | None:
    """Percent of those that are labelled; None where none is."""
    judged = [one.right[measure] for one in scores if measure in one.right]
    return 100.0 * mean(judged) if judged else None


def show(found: Mapping[str, Figures], earlier: Mapping[str, Figures]) -> None:
    """Print the table; behind each figure how it differs from the run before."""
    print(f"{'':<28}" + "".join(f"{name:>22}" for name in found))
    for row in ROWS:
        cells = [
            _cell(one[row.key], earlier.get(name, {}).get(row.key), row)
            for name, one in found.items()
        ]
        print(f"{row.title:<28}" + "".join(f"{cell:>22}" for cell in cells))


def _cell(value: float | None, before: float | None, row: Row) -> str:
    if value is None:
        return "-"
    digits = 0 if row.unit in {"", "MiB"} else 2 if row.unit == "s" else 1
    text = f"{value:.{digits}f} {row.unit}".strip()
    if before is None or round(value - before, digits) == 0:
        return text
    mark = "" if (value > before) is row.more_is_better else " (!)"
    return f"{text} {value - before:+.{digits}f}{mark}"


def show_misses(scores: Sequence[Score]) -> None:
    """Print every value that is not what is printed, with what became of the printed one."""
    wrong = {one.label.name for one in scores if one.is_wrong_though_complete}
    for miss in (miss for one in scores for miss in one.misses):
        told = " WRONG AND COMPLETE" if _is_grave(miss.measure) and miss.file in wrong else ""
        print(f"{miss.file}: {miss.measure} {miss.found!r}, printed {miss.wanted!r}:", end=" ")
        print(f"{miss.reason}{told}")


def _is_grave(measure: Measure) -> bool:
    return measure in {Measure.TOTAL, Measure.DATE}


def write(
    path: Path,
    found: Mapping[str, Figures],
    scores: Sequence[Score],
    measured: Sequence[Measured],
    settings: Mapping[str, Any],
) -> None:
    """Write figures, and each receipt with its cost and its misses."""
    receipts = [
        {
            "file": score.label.name,
            "collection": score.label.collection,
            "right": score.right,
            "complete": score.is_complete,
            "misses": [asdict(miss) for miss in score.misses],
            "cost": asdict(one.cost),
            "passes": _passes(one),
        }
        for score, one in zip(scores, measured, strict=True)
    ]
    document = {"settings": settings, "figures": found, "receipts": receipts}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _passes(one: Measured) -> list[str]:
    records = one.reading.passes if one.reading else ()
    return [f"{record.engine} {record.variant}" for record in records]


def read(path: Path) -> dict[str, Figures]:
    """Read the figures of a stored run; none is empty."""
    if not path.is_file():
        return {}
    stored: dict[str, Figures] = json.loads(path.read_text(encoding="utf-8"))["figures"]
    return stored
