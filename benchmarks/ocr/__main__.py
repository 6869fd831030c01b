"""`make ocr-bench`: tables, every miss, plots, and `.bench/ocr.json`.

make ocr-bench                                        all parts but fit, with both engines
make ocr-bench ARGS="receipts --engines tesseract"    labelled receipts, Tesseract alone
make ocr-bench ARGS="receipts --limit 20 --only German"
make ocr-bench ARGS="odd turned"                      the figures of other parts stay as they were
make ocr-bench ARGS="--against other-run.json"        another run to compare with
make ocr-bench ARGS=fit                               writes the worker's table of confidence
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.ocr import labels, parts, report
from benchmarks.ocr.labels import Collection, Label
from benchmarks.ocr.parts import ABOUT, NEED_BOTH, ON_DEMAND, Bench, Part
from receipt_worker.engines.choice import Engines, is_rapidocr_installed
from receipt_worker.settings import ReadingSettings


def main() -> int:
    """Measure, tell, store."""
    options = _options()
    if options.engines is not Engines.TESSERACT and not is_rapidocr_installed():
        print("RapidOCR is missing: .venv/bin/pip install -e '.[cli,rapidocr]'", file=sys.stderr)
        return 1
    chosen = _chosen(labels.load(), options)
    if not chosen:
        print(f"No labelled receipts in {labels.FOLDER}: set {labels.VARIABLE}.", file=sys.stderr)
        return 1
    earlier = report.read(options.against or options.write)["figures"]
    with tempfile.TemporaryDirectory() as folder:
        settings = ReadingSettings.model_validate(
            {"RECEIPT_OCR_WORK_FOLDER": folder, "RECEIPT_OCR_ENGINES": options.engines}
        )
        today = datetime.now(UTC).date()
        bench = Bench(chosen, settings, options.readers, today, options.write, earlier)
        for part in options.parts:
            result = parts.run(part, bench)
            # What was measured stays, whatever comes after it.
            report.write(options.write, result, report.read(options.write))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make ocr-bench",
        description="Measure how well receipts are read, and what it costs.",
        epilog="\n".join(["parts:", *(f"  {part:<10} {about}" for part, about in ABOUT.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", type=Part, metavar="PART", help="all but fit")
    parser.add_argument("--engines", type=Engines, choices=list(Engines), default=Engines.AUTO)
    parser.add_argument("--only", type=Collection, choices=list(Collection), help="one collection")
    parser.add_argument("--limit", type=int, help="receipts of each collection, evenly spread")
    parser.add_argument("--readers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=Path, default=report.STORED)
    parser.add_argument("--against", type=Path, help="a stored run; else what --write replaces")
    options = parser.parse_args()
    alone = options.engines is Engines.TESSERACT
    if alone and NEED_BOTH & set(options.parts):
        parser.error(f"{', '.join(sorted(NEED_BOTH))}: only with both engines")
    left_out = ON_DEMAND | (NEED_BOTH if alone else frozenset())
    options.parts = options.parts or [part for part in Part if part not in left_out]
    return options


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
