"""What a benchmark found: printed for people, written for comparison."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

LATEST = Path(__file__).resolve().parents[1] / ".bench" / "latest.json"


@dataclass(frozen=True)
class Figure:
    """One measured figure; `better` tells which way is good."""

    benchmark: str
    measure: str
    value: float
    unit: str
    better: str = "higher"


def show(figures: Sequence[Figure], earlier: Sequence[Figure]) -> None:
    """Print the figures, each with its ratio to the run before."""
    before = {(one.benchmark, one.measure): one.value for one in earlier}
    print(f"{'benchmark':<12} {'measure':<52} {'value':>12} {'unit':<12} against the last run")
    for one in figures:
        known = before.get((one.benchmark, one.measure))
        ratio = f"{one.value / known:.2f}x ({one.better} is better)" if known else "-"
        print(f"{one.benchmark:<12} {one.measure:<52} {one.value:>12.2f} {one.unit:<12} {ratio}")


def write(figures: Sequence[Figure], earlier: Sequence[Figure]) -> None:
    """Write the figures for the next run to compare with; of what was not run, the earlier ones."""
    ran = {one.benchmark for one in figures}
    kept = [one for one in earlier if one.benchmark not in ran]
    LATEST.parent.mkdir(exist_ok=True)
    LATEST.write_text(
        json.dumps([asdict(one) for one in (*kept, *figures)], indent=1), encoding="utf-8"
    )


def read() -> list[Figure]:
    """Read the figures of the run before; none is an empty list."""
    if not LATEST.exists():
        return []
    return [Figure(**one) for one in json.loads(LATEST.read_text(encoding="utf-8"))]
