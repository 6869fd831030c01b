"""One OCR of one file, from its bytes to a `Reading`. Runs in the reading child.

Text layer first; else pass after pass over every page, in order of worth, until the result is
proven or the passes are used up. Never touches broker, cache or database.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from PIL import Image

from receipt_contract.errors import AttemptError, Reason
from receipt_contract.results import ExtractionStatus
from receipt_worker import card_digits, consensus, passes, sheets, signs
from receipt_worker.consensus import Decision
from receipt_worker.document import LineRecord, PageRecord, Reading, ReviewReason
from receipt_worker.engines import choice
from receipt_worker.engines.base import Engine
from receipt_worker.engines.tesseract import Tesseract
from receipt_worker.extraction import labels, receipt, vocabulary
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.imaging import Variant
from receipt_worker.intake import Document
from receipt_worker.passes import LAYER_ENGINE, FirstLook, PageOutcome, Step
from receipt_worker.rounds import PageReading, RoundReading
from receipt_worker.settings import ReadingSettings

PAGES_AT_ONCE = 2  # of a long document, which would keep one core busy for many seconds
DIGITS = "0123456789"
MANY_PAGES = 3  # pictured pages from which one pass must do: each more costs seconds a page


@dataclass(frozen=True)
class Knowledge:
    """What fields are read with."""

    vocabulary: Vocabulary
    assumptions: Assumptions


@dataclass(frozen=True)
class Round:
    """One pass over every page, and what it says about the receipt."""

    outcomes: tuple[PageOutcome, ...]
    reading: RoundReading


class Seen(NamedTuple):
    """A reading, and the picture of each page as boxes mean it; None where there is none."""

    reading: Reading
    pictures: tuple[Image.Image | None, ...]


def read(data: bytes, settings: ReadingSettings, *, today: date) -> Reading:
    """Read one file.

    Raises PermanentError for the content, AttemptError when the engine fails.
    """
    return look(data, settings, today=today).reading


def look(data: bytes, settings: ReadingSettings, *, today: date) -> Seen:
    """Read one file and keep its pages. Raises as `read` does."""
    started = time.monotonic()
    known = Knowledge(
        vocabulary.load(settings.words),
        Assumptions(today=today, oldest_years=settings.oldest_years),
    )
    document = sheets.opened(data, settings.limits)
    opened = time.monotonic()
    looks, more = _first_looks(document, settings, known)
    rounds, decision = read_until_proven(looks, more, known)
    rounds, decision = _with_card(looks, rounds, decision, settings, known)
    read_all = {item.record.pass_id: item for one in rounds for item in one.outcomes}
    shown = rounds[decision.selected].outcomes
    # Pages are read side by side, so engines may have worked longer than anybody waited.
    engine_seconds = sum(item.record.seconds for item in read_all.values())
    other_seconds = max(0.0, time.monotonic() - opened - engine_seconds)
    reading = Reading(
        extraction=decision.extraction,
        pages=tuple(
            _page(one.sheet.width, outcome, known.vocabulary)
            for one, outcome in zip(looks, shown, strict=True)
        ),
        passes=passes.selected(read_all, [item.record.pass_id for item in shown]),
        timings={
            "text_extraction_seconds": round(opened - started, 3),
            "layout_extraction_seconds": round(engine_seconds, 3),
            "structuring_seconds": round(other_seconds, 3),
        },
    )
    return Seen(reading, tuple(one.sheet.picture for one in looks))


def steps(settings: ReadingSettings, *, pages: int) -> tuple[Step, ...]:
    """Order passes by worth: RapidOCR reads more, and Tesseract sees what it cannot.

    A document of many pages is left to Tesseract, which is three times as fast.
    """

    def tesseract(psm: int) -> Tesseract:
        return Tesseract(languages=settings.languages, psm=psm)

    own = (
        Step(Variant.EVEN_BLUR, tesseract(6)),
        Step(Variant.EVEN, tesseract(4)),
        Step(Variant.NATIVE, tesseract(6)),
    )
    other = choice.second_engine(settings.engines, timeout=settings.pass_timeout)
    if other is None or pages > MANY_PAGES:
        return *own, Step(Variant.EVEN, tesseract(11))
    return Step(Variant.CROPPED, other), *own


def probe(settings: ReadingSettings) -> Engine:
    """Give the engine that tells which way up a page is."""
    return Tesseract(languages=settings.languages, psm=6)


def digits(settings: ReadingSettings) -> Engine:
    """Give the engine that looks at numbers alone: the second one, which never took a 5 for a 3.

    Without it, Tesseract does with the model that is installed everywhere.
    """
    languages = settings.languages.split("+")[0]
    return choice.second_engine(settings.engines, timeout=settings.pass_timeout) or Tesseract(
        languages=languages, psm=6, only=DIGITS
    )


def _first_looks(
    document: Document, settings: ReadingSettings, known: Knowledge
) -> tuple[tuple[FirstLook, ...], tuple[Step, ...]]:
    """Look at every page; returns the steps left too. An engine that takes too long is left out."""
    first, *more = steps(settings, pages=document.page_count)
    try:
        return _looked_at(document, first, probe(settings), known), tuple(more)
    except AttemptError as error:
        if error.reason is not Reason.TIMEOUT or first.engine.name == more[0].engine.name:
            raise
    first, *more = more
    return _looked_at(document, first, probe(settings), known), tuple(more)


def _looked_at(
    document: Document, step: Step, probe: Engine, known: Knowledge
) -> tuple[FirstLook, ...]:
    """Look at every page; pictures of a long document are not kept for further passes."""
    pages = sheets.sheets(document, known.vocabulary)
    seen: list[FirstLook] = []
    at_once = PAGES_AT_ONCE if document.page_count > MANY_PAGES else 1
    for one in passes.first(step, pages, known.vocabulary, probe=probe, at_once=at_once):
        seen.append(one)
        if sum(map(_is_pictured, seen)) > MANY_PAGES:
            seen = [page._replace(sheet=page.sheet.without_picture()) for page in seen]
    return tuple(seen)


def _is_pictured(look: FirstLook) -> bool:
    return look.outcome.record.engine != LAYER_ENGINE


def read_until_proven(
    looks: Sequence[FirstLook], steps: Sequence[Step], known: Knowledge
) -> tuple[list[Round], Decision]:
    """Run the steps that are worth it; returns the outcomes of all and the last decision."""
    rounds = [in_round([look.outcome for look in looks], known)]
    found = signs.of_pages(looks, known.vocabulary, known.assumptions)
    if sum(map(_is_pictured, looks)) > MANY_PAGES:
        found |= {ReviewReason.LIMIT_HIT}
    decision = decide(rounds, found)
    if not any(look.sheet.picture for look in looks):
        return rounds, decision
    for step in steps:
        if not _is_worth_it(step, rounds, decision):
            continue
        another = again(step, looks, rounds, known)
        if another is None:
            found |= {ReviewReason.LIMIT_HIT}  # what was read stands, for a person to see
            return rounds, decide(rounds, found)
        rounds.append(another)
        decision = decide(rounds, found)
    return rounds, decision


def _is_worth_it(step: Step, rounds: Sequence[Round], decision: Decision) -> bool:
    """Whether another pass may change the result: an engine that found nothing will not."""
    found = decision.extraction
    if found.status is ExtractionStatus.COMPLETE:
        return False
    if found.total is None and found.transaction_date is None:
        return step.engine.name not in {one.reading.engine for one in rounds}
    return True


def again(
    step: Step, looks: Sequence[FirstLook], rounds: Sequence[Round], known: Knowledge
) -> Round | None:
    """Run one more step; None when a pass of it took too long."""
    own = [one for one in rounds if one.reading.engine == step.engine.name]
    before = (own or rounds)[0].outcomes  # engines do not agree on how high letters are
    next_id = 1 + max(item.record.pass_id for item in rounds[-1].outcomes)
    pages = [look.sheet for look in looks]
    try:
        outcomes = passes.again(step, pages, known.vocabulary, before=before, next_id=next_id)
    except AttemptError as error:
        if error.reason is not Reason.TIMEOUT:
            raise
        return None
    return in_round(outcomes, known)


def _with_card(
    looks: Sequence[FirstLook],
    rounds: list[Round],
    decision: Decision,
    settings: ReadingSettings,
    known: Knowledge,
) -> tuple[list[Round], Decision]:
    """Look again at a masked card number that no pass could read; all else stays as decided."""
    [look, *others] = looks
    if (
        others
        or look.sheet.picture is None
        or any(one.reading.findings.card_last4 for one in rounds)
    ):
        return rounds, decision
    try:
        seen = card_digits.completed(
            [one.outcomes[0] for one in rounds],
            look.sheet.picture,
            known.vocabulary,
            engine=digits(settings),
        )
    except AttemptError:
        return rounds, decision  # what was read stands
    rounds = [
        one if outcome is one.outcomes[0] else in_round([outcome], known)
        for one, outcome in zip(rounds, seen, strict=True)
    ]
    return rounds, decide(rounds, frozenset(decision.extraction.review_reasons))


def decide(rounds: Sequence[Round], found: frozenset[ReviewReason]) -> Decision:
    found |= signs.of_text([one.outcomes for one in rounds])
    return consensus.decide([one.reading for one in rounds], signs=found)


def in_round(outcomes: Sequence[PageOutcome], known: Knowledge) -> Round:
    every = tuple(line for outcome in outcomes for line in outcome.lines)
    reading = RoundReading(
        pages=tuple(PageReading(item.record.page_number, item.record.pass_id) for item in outcomes),
        given=all(item.record.engine == LAYER_ENGINE for item in outcomes),
        lines=every,
        findings=receipt.read(every, known.vocabulary, known.assumptions),
        engine=_engine(outcomes),
        variant=outcomes[0].record.variant,
    )
    return Round(tuple(outcomes), reading)


def _engine(outcomes: Sequence[PageOutcome]) -> str:
    """Name the engine of a round: the one that read, not the layer that was given beside it."""
    names = [item.record.engine for item in outcomes]
    return next((name for name in names if name != LAYER_ENGINE), names[0])


def _page(width: int, outcome: PageOutcome, words_of: Vocabulary) -> PageRecord:
    rows = labels.read_rows(outcome.lines, words_of)
    return PageRecord(
        page_number=outcome.record.page_number,
        width=width,
        lines=tuple(
            _line(row.line, number, role=row.role, paid=bool(row.amounts))
            for number, row in enumerate(rows, start=1)
        ),
    )


def _line(line: Line, number: int, *, role: Role | None, paid: bool) -> LineRecord:
    if role in {Role.TOTAL, Role.SUBTOTAL, Role.TAX, Role.PAID, Role.CHANGE, Role.ROUNDING}:
        kind = "summary"
    elif role in {Role.DISCOUNT, Role.TIP}:
        kind = "discount" if role is Role.DISCOUNT else "fee"
    else:
        kind = "item" if paid and role is None else "text"
    return LineRecord(number, line.text, line.confidence, line.box, kind)
