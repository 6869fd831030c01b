"""The parts of a run: each measures, prints its table and its misses, and gives what is stored."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.ocr import (
    every_pass,
    fit,
    measuring,
    odd,
    orders,
    overhead,
    plots,
    report,
    scoring,
    turned,
    worn,
)
from benchmarks.ocr.every_pass import EveryPass
from benchmarks.ocr.labels import Collection, Label
from benchmarks.ocr.report import Figures, Row
from receipt_worker.settings import ReadingSettings


class Part(StrEnum):
    """What there is to measure, in the order in which it is."""

    RECEIPTS = "receipts"
    ODD = "odd"
    TURNED = "turned"
    WORN = "worn"
    OVERHEAD = "overhead"
    ORDERS = "orders"
    FIT = "fit"


ABOUT = {
    Part.RECEIPTS: "what is read right on labelled receipts, and what a receipt costs",
    Part.ODD: "how damaged, huge and strange files end, one at a time",
    Part.TURNED: "the same receipts turned by 90, 180 and 270 degrees",
    Part.WORN: "the same receipts blurred, tilted, small, noisy, faint, shaded and bent",
    Part.OVERHEAD: "what the worker adds to the plain program",
    Part.ORDERS: "a plot of accuracy against time by order of passes, with both engines",
    Part.FIT: "write the worker's table of confidence anew, from both engines",
}
ON_DEMAND = frozenset({Part.FIT})  # changes the checkout
NEED_PICTURES = frozenset({Part.TURNED, Part.WORN, Part.OVERHEAD, Part.ORDERS, Part.FIT})
NEED_BOTH = frozenset({Part.ORDERS, Part.FIT})  # engines


@dataclass(frozen=True)
class Bench:
    """What all parts are given, and the figures of the run before."""

    chosen: Sequence[Label]
    settings: ReadingSettings
    readers: int
    today: date
    written: Path
    earlier: Mapping[str, Figures]

    @property
    def pictures(self) -> list[Label]:
        """Receipts that have to be read by an engine."""
        return [one for one in self.chosen if one.collection is not Collection.TEXT_PDF]

    @cached_property
    def every_pass(self) -> Sequence[EveryPass]:
        """Every pass over every picture, read once for all parts that want it."""
        return every_pass.read(
            self.pictures, self.settings, processes=self.readers, today=self.today
        )


Result = Mapping[str, Any]  # keys of the stored run


def run(part: Part, bench: Bench) -> Result:
    """Measure one part, if there is anything for it."""
    if part in NEED_PICTURES and not bench.pictures:
        print(f"{part}: none of the chosen receipts is a picture")
        return {"figures": {}}
    return _RUNS[part](bench)


def _receipts(bench: Bench) -> Result:
    run = measuring.run(bench.chosen, bench.settings, readers=bench.readers, today=bench.today)
    scores = [scoring.score(one.label, one.reading) for one in run.measured]
    report.show_misses(scores)
    stored = _told(bench, report.ROWS, report.figures(scores, run.measured))
    rate = len(bench.chosen) / run.wall_seconds
    print(f"{rate:.2f} receipts/s with {bench.readers} readers; engines: {bench.settings.engines}")
    plots.write(
        bench.written.with_suffix(".reliability.svg"),
        plots.reliability(scores, run.measured),
        across="confidence, %",
        up="right, % (and how many)",
        to=100.0,
    )
    return {
        **stored,
        "engines": bench.settings.engines,
        "receipts_per_second": rate,
        "receipts": report.receipts(scores, run.measured),
    }


def _odd(bench: Bench) -> Result:
    ended = odd.read(bench.settings, today=bench.today)
    _print(odd.misses(ended))
    return {
        **_told(bench, odd.ROWS, {"odd files": odd.figures(ended)}),
        "odd files": odd.files(ended),
    }


def _turned(bench: Bench) -> Result:
    read = turned.read(bench.pictures, bench.settings, readers=bench.readers, today=bench.today)
    _print(turned.misses(read))
    return _told(bench, turned.ROWS, {"turned": turned.figures(read)})


def _worn(bench: Bench) -> Result:
    read = worn.read(bench.pictures, bench.settings, readers=bench.readers, today=bench.today)
    _print(worn.misses(read))
    return _told(bench, worn.ROWS, worn.figures(read))


def _overhead(bench: Bench) -> Result:
    cost = overhead.measure(bench.pictures, bench.settings, today=bench.today)
    return _told(bench, overhead.ROWS, {"one pass": cost})


def _orders(bench: Bench) -> Result:
    curves = orders.curves(bench.pictures, bench.every_pass)
    plots.write(
        bench.written.with_suffix(".passes.svg"),
        curves,
        across="CPU s a receipt",
        up="total and date right, %",
        to=1.25 * max(point.x for curve in curves for point in curve.points),
    )
    for curve in curves:
        steps = (f"{point.note} {point.y:.1f} % in {point.x:.2f} s" for point in curve.points)
        print(f"{curve.name}: {', '.join(steps)}")
    return {"figures": {}}


def _fit(bench: Bench) -> Result:
    _print(fit.write(bench.pictures, bench.every_pass))
    print(f"written: {fit.WRITTEN}")
    return {"figures": {}}


_RUNS: Mapping[Part, Callable[[Bench], Result]] = {
    Part.RECEIPTS: _receipts,
    Part.ODD: _odd,
    Part.TURNED: _turned,
    Part.WORN: _worn,
    Part.OVERHEAD: _overhead,
    Part.ORDERS: _orders,
    Part.FIT: _fit,
}


def _told(bench: Bench, rows: Sequence[Row], found: Mapping[str, Figures]) -> Result:
    report.show(rows, found, bench.earlier)
    return {"figures": found}


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
