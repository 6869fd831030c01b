"""What the worker adds to the plain `tesseract` program, same picture and same settings.

Measured in one process, in turns, as seconds of computing: others on the machine change both alike.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from datetime import date
from functools import partial
from pathlib import Path

from benchmarks.ocr.computing import timed
from benchmarks.ocr.every_pass import knowledge
from benchmarks.ocr.labels import Label
from benchmarks.ocr.report import Figures, Row
from receipt_worker import imaging, passes, reading, sheets
from receipt_worker.engines.choice import Engines
from receipt_worker.extraction import vocabulary
from receipt_worker.imaging import Prepared
from receipt_worker.passes import FirstLook, Step
from receipt_worker.reading import Knowledge
from receipt_worker.settings import ReadingSettings
from receipt_worker.sheets import Sheet

SAMPLE = 12  # receipts, evenly spread


ROWS = (
    Row("the program alone", "program", "s", more_is_better=False),
    Row("our pass around it", "one_pass", "s", more_is_better=False),
    Row("that is more by", "more", "%", more_is_better=False),
    Row("finding which way up", "turning", "s", more_is_better=False),
    Row("decoding and preparing", "preparation", "s", more_is_better=False),
)


def measure(labels: Sequence[Label], settings: ReadingSettings, *, today: date) -> Figures:
    """Read a sample once with each; CPU seconds a receipt."""
    alone = settings.model_copy(update={"engines": Engines.TESSERACT})
    known = knowledge(alone, today)
    step = reading.steps(alone, pages=1)[0]
    program = one_pass = turning = preparation = 0.0
    sample = labels[:: max(1, len(labels) // SAMPLE)]
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "page.ppm"
        for label in sample:
            sheet, decoding = timed(partial(_sheet, label.path, settings))
            prepared, preparing = timed(partial(_prepared, sheet, step))
            prepared.image.save(picture)
            program += timed(partial(_program, picture, settings))[1]
            looks, first = timed(partial(_first, step, sheet, known))
            again = timed(partial(_pass, step, looks, known))[1] - preparing
            one_pass += again
            turning += max(0.0, first - preparing - again)
            preparation += decoding + preparing
    count = len(sample)
    return {
        "program": program / count,
        "one_pass": one_pass / count,
        "more": 100.0 * (one_pass / program - 1.0),
        "turning": turning / count,
        "preparation": preparation / count,
    }


def _sheet(path: Path, settings: ReadingSettings) -> Sheet:
    document = sheets.opened(path.read_bytes(), settings.limits)
    return next(sheets.sheets(document, vocabulary.load()))


def _prepared(sheet: Sheet, step: Step) -> Prepared:
    if sheet.picture is None:
        raise ValueError("a page with a text layer is not read")
    return imaging.prepare(sheet.picture, step.variant, letter_height=None)


def _program(picture: Path, settings: ReadingSettings) -> None:
    """Call Tesseract as the engine does, and throw away what it says."""
    options = ("--psm", "6", "-l", settings.languages, "-c", "tessedit_do_invert=0")
    subprocess.run(
        ["tesseract", str(picture), "stdout", *options, "tsv"],
        check=True,
        capture_output=True,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )


def _first(step: Step, sheet: Sheet, known: Knowledge) -> tuple[FirstLook, ...]:
    """Look at a page for the first time: a pass, and others where it may not be upright."""
    return tuple(passes.first(step, [sheet], known.vocabulary, probe=step.engine))


def _pass(step: Step, looks: Sequence[FirstLook], known: Knowledge) -> None:
    """One pass from its picture to its fields."""
    before = [look.outcome for look in looks]
    pages = [look.sheet for look in looks]
    outcomes = passes.again(step, pages, known.vocabulary, before=before, next_id=2)
    reading.decide([reading.in_round(outcomes, known)], frozenset())
