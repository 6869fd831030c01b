"""Every pass over every receipt, whether it is still needed or not: for orders and for confidence.

Read in processes of their own, one receipt at a time on each core.
"""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from multiprocessing import get_context

from benchmarks.ocr.computing import timed
from benchmarks.ocr.labels import Label
from receipt_worker import passes, reading, sheets, signs
from receipt_worker.document import Extraction, ReviewReason
from receipt_worker.extraction import vocabulary
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.passes import FirstLook, Step
from receipt_worker.reading import Knowledge, Round
from receipt_worker.settings import ReadingSettings


@dataclass(frozen=True)
class EveryPass:
    """What each pass saw, the seconds it computed, and what the first look told of the pages."""

    rounds: tuple[Round, ...]
    seconds: tuple[float, ...]
    found: frozenset[ReviewReason]

    def extraction(self, places: Sequence[int]) -> Extraction:
        """Decide as if only these passes had been run."""
        return reading.decide([self.rounds[place] for place in places], self.found).extraction


def names(settings: ReadingSettings) -> list[str]:
    """Name the passes in their order."""
    steps = reading.steps(settings, pages=1)
    return [f"{step.engine.name} {step.variant}" for step in steps]


def read(
    chosen: Sequence[Label], settings: ReadingSettings, *, processes: int, today: date
) -> list[EveryPass]:
    """Read every receipt with every pass, in the order of the labels."""
    one = partial(read_one, settings=settings, today=today)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(one, chosen))


def read_one(label: Label, settings: ReadingSettings, *, today: date) -> EveryPass:
    """Read one receipt with every pass, in this process."""
    known = knowledge(settings, today)
    first, *more = reading.steps(settings, pages=1)
    looks, seconds = timed(partial(_look, label, first, settings, known))
    rounds, spent = [reading.in_round([look.outcome for look in looks], known)], [seconds]
    for step in more:
        another, seconds = timed(partial(reading.again, step, looks, tuple(rounds), known))
        rounds.append(another or rounds[-1])
        spent.append(seconds)
    found = signs.of_pages(looks, known.vocabulary, known.assumptions)
    return EveryPass(tuple(rounds), tuple(spent), found)


@cache
def knowledge(settings: ReadingSettings, today: date) -> Knowledge:
    """Give what fields are read with."""
    assumptions = Assumptions(today=today, oldest_years=settings.oldest_years)
    return Knowledge(vocabulary.load(), assumptions)


def _look(
    label: Label, step: Step, settings: ReadingSettings, known: Knowledge
) -> tuple[FirstLook, ...]:
    document = sheets.opened(label.path.read_bytes(), settings.limits)
    pages = sheets.sheets(document, known.vocabulary)
    return tuple(passes.first(step, pages, known.vocabulary, probe=reading.probe(settings)))
