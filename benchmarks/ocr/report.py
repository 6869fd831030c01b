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
            found[collection.value] = summed(own, costs)
    return found


def summed(scores: Sequence[Score], measured: Sequence[Measured]) -> Figures:
    """Sum up any receipts."""
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


def show(rows: Sequence[Row], found: Mapping[str, Figures], earlier: Mapping[str, Figures]) -> None:
    """Print a table; behind each figure how it differs from the run before."""
    print(f"\n{'':<28}" + "".join(f"{name:>22}" for name in found))
    for row in rows:
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
    for one in scores:
        if one.has_invented_card:
            print(
                f"{one.label.name}: card digits that its label lacks: look whether they are printed"
            )


def _is_grave(measure: Measure) -> bool:
    return measure in {Measure.TOTAL, Measure.DATE}


def receipts(scores: Sequence[Score], measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Tell each receipt with its cost and its misses."""
    return [
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


def _passes(one: Measured) -> list[str]:
    records = one.reading.passes if one.reading else ()
    return [f"{record.engine} {record.variant}" for record in records]


def read(path: Path) -> dict[str, Any]:
    """Read a stored run; `figures` has the columns of all its tables by name."""
    if not path.is_file():
        return {"figures": {}}
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return stored


def write(path: Path, run: Mapping[str, Any], earlier: Mapping[str, Any]) -> None:
    """Write a run; figures of parts that it left out stay as they were."""
    figures = {**earlier["figures"], **run["figures"]}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**earlier, **run, "figures": figures}, indent=1), encoding="utf-8")
