"""`make ocr-bench`: one table, every miss, plots, and `.bench/ocr.json`.

make ocr-bench                                     both engines
make ocr-bench ARGS="--engines tesseract"          Tesseract alone
make ocr-bench ARGS="--limit 20 --only German"     a part of the receipts
make ocr-bench ARGS="--against other-run.json"     another run to compare with
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from benchmarks.ocr import labels, measuring, orders, overhead, plots, report, scoring
from benchmarks.ocr.labels import Collection, Label
from receipt_worker.engines.choice import Engines, is_rapidocr_installed
from receipt_worker.settings import ReadingSettings


def main() -> int:
    """Read, score, tell."""
    options = _options()
    if options.engines is not Engines.TESSERACT and not is_rapidocr_installed():
        print("RapidOCR is missing: .venv/bin/pip install -e '.[cli,rapidocr]'", file=sys.stderr)
        return 1
    chosen = _chosen(labels.load(), options)
    if not chosen:
        print(f"No labelled receipts in {labels.FOLDER}: set {labels.VARIABLE}.", file=sys.stderr)
        return 1
    today = datetime.now(UTC).date()
    with tempfile.TemporaryDirectory() as folder:
        settings = ReadingSettings.model_validate(
            {"RECEIPT_OCR_WORK_FOLDER": folder, "RECEIPT_OCR_ENGINES": options.engines}
        )
        run = measuring.run(chosen, settings, readers=options.readers, today=today)
        cost = overhead.measure(_pictures(chosen), settings, today=today)
        if options.orders:
            _plot_orders(_pictures(chosen), settings, options.write, today=today)
    scores = [scoring.score(one.label, one.reading) for one in run.measured]
    found = report.figures(scores, run.measured)
    report.show_misses(scores)
    print()
    report.show(found, report.read(options.against or options.write))
    rate = len(chosen) / run.wall_seconds
    print(f"\n{rate:.2f} receipts/s with {options.readers} readers; engines: {options.engines}")
    print(cost.sentence())
    report.write(options.write, found, scores, run.measured, {"engines": options.engines})
    plots.write(
        options.write.with_suffix(".reliability.svg"),
        plots.reliability(scores, run.measured),
        across="confidence, %",
        up="right, % (and how many)",
        to=100.0,
    )
    return 0


def _pictures(chosen: Sequence[Label]) -> list[Label]:
    return [label for label in chosen if label.collection is not Collection.TEXT_PDF]


def _plot_orders(
    chosen: Sequence[Label], settings: ReadingSettings, written: Path, *, today: date
) -> None:
    curves = orders.curves(chosen, settings, today=today)
    most = max(point.x for curve in curves for point in curve.points)
    path = written.with_suffix(".passes.svg")
    plots.write(path, curves, across="CPU s a receipt", up="right, %", to=most * 1.25)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make ocr-bench", description="Score how labelled receipts are read."
    )
    parser.add_argument("--engines", type=Engines, choices=list(Engines), default=Engines.AUTO)
    parser.add_argument("--only", type=Collection, choices=list(Collection), help="one collection")
    parser.add_argument("--limit", type=int, help="receipts of each collection, evenly spread")
    parser.add_argument("--readers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=Path, default=report.STORED)
    parser.add_argument("--against", type=Path, help="a stored run; else what --write replaces")
    parser.add_argument("--orders", action="store_true", help="plot what each pass is worth")
    return parser.parse_args()


def _chosen(every: Sequence[Label], options: argparse.Namespace) -> list[Label]:
    chosen = []
    for collection in Collection:
        own = [label for label in every if label.collection is collection]
        if options.only in {None, collection} and own:
            step = max(1, len(own) // options.limit) if options.limit else 1
            chosen += own[::step]
    return chosen


if __name__ == "__main__":
    sys.exit(main())
