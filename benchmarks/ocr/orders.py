"""What each further pass is worth: accuracy when every receipt gets one, two, three … passes."""

from collections.abc import Iterator, Sequence
from datetime import date
from statistics import mean
from typing import NamedTuple

from benchmarks.ocr import computing, scoring
from benchmarks.ocr.labels import Label
from benchmarks.ocr.plots import Curve, Point
from benchmarks.ocr.scoring import Measure
from receipt_worker import passes, reading, sheets, signs
from receipt_worker.document import Extraction
from receipt_worker.extraction import vocabulary
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.reading import Knowledge
from receipt_worker.settings import ReadingSettings

MEASURES = (Measure.TOTAL, Measure.DATE, Measure.TOTAL_AND_DATE, Measure.MERCHANT)


class _After(NamedTuple):
    """What is known after some passes, and the seconds computed until then."""

    seconds: float
    extraction: Extraction


def curves(labels: Sequence[Label], settings: ReadingSettings, *, today: date) -> list[Curve]:
    """Read every receipt with every pass, in this process; one curve for each measure."""
    known = Knowledge(
        vocabulary.load(), Assumptions(today=today, oldest_years=settings.oldest_years)
    )
    read = [list(_after_each(label, settings, known)) for label in labels]
    names = [f"{step.engine.name} {step.variant}" for step in reading.steps(settings, pages=1)]
    return [
        Curve(
            measure.value,
            [
                Point(
                    mean(one[number].seconds for one in read),
                    _percent(labels, [one[number].extraction for one in read], measure),
                    name if measure is Measure.TOTAL_AND_DATE else "",
                )
                for number, name in enumerate(names)
            ],
        )
        for measure in MEASURES
    ]


def _after_each(label: Label, settings: ReadingSettings, known: Knowledge) -> Iterator[_After]:
    started = computing.computed()
    document = sheets.opened(label.path.read_bytes(), settings.limits)
    first, *more = reading.steps(settings, pages=1)
    pages = sheets.sheets(document, known.vocabulary)
    looks = tuple(passes.first(first, pages, known.vocabulary, probe=reading.probe(settings)))
    found = signs.of_pages(looks, known.vocabulary, known.assumptions)
    rounds = [reading.in_round([look.outcome for look in looks], known)]
    yield _After(computing.computed() - started, reading.decide(rounds, found).extraction)
    for step in more:
        rounds.append(reading.again(step, looks, rounds, known) or rounds[-1])
        yield _After(computing.computed() - started, reading.decide(rounds, found).extraction)


def _percent(labels: Sequence[Label], found: Sequence[Extraction], measure: Measure) -> float:
    right = [scoring.right(label, one) for label, one in zip(labels, found, strict=True)]
    return 100.0 * mean(one[measure] for one in right if measure in one)
