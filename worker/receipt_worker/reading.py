"""One OCR of one file, from its bytes to a `Reading`. Runs in the reading child.

Text layer first; else pass after pass over every page, in order of worth, until the result is
proven or the passes are used up. Never touches broker, cache or database.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import date

from receipt_contract.errors import AttemptError, PermanentError, Reason
from receipt_contract.results import ExtractionStatus
from receipt_worker import consensus, imaging, layer, multiple, orientation, passes
from receipt_worker.consensus import Decision, PageReading, RoundReading
from receipt_worker.document import LineRecord, PageRecord, Reading, ReviewReason
from receipt_worker.engines.tesseract import Tesseract
from receipt_worker.extraction import card, labels, lines, receipt, vocabulary
from receipt_worker.extraction.lines import CONFIDENT, Line
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.extraction.vocabulary import Role, Vocabulary
from receipt_worker.imaging import Variant
from receipt_worker.intake import Document, ImageDocument, is_pdf
from receipt_worker.passes import LAYER_ENGINE, PageOutcome, Passes, Sheet, Step
from receipt_worker.pdf import PdfDocument
from receipt_worker.settings import ReadingLimits, ReadingSettings

STEPS = (Step(Variant.EVEN_BLUR, 6), Step(Variant.EVEN, 4), Step(Variant.NATIVE, 6))
MANY_PAGES = 3  # pictured pages from which one pass must do: each more costs seconds a page
LEAST_SIDE = 10  # pixels; a smaller picture holds no letter
LEAST_WORDS = 4  # confident words of two letters below which nothing was read
LOW_TEXT_SHARE = 0.25  # readable share under which the text is mostly guessed


def read(data: bytes, settings: ReadingSettings, *, today: date) -> Reading:
    """Read one file.

    Raises PermanentError for the content, AttemptError when the engine fails.
    """
    started = time.monotonic()
    words_of = vocabulary.load()
    sheets = tuple(_sheets(_opened(data, settings.limits), words_of))
    opened = time.monotonic()
    assumptions = Assumptions(today=today, oldest_years=settings.oldest_years)
    rounds, decision = _read_until_proven(sheets, settings, words_of, assumptions)
    read_all = {item.record.pass_id: item for outcomes in rounds for item in outcomes}
    shown = rounds[decision.selected] if rounds else ()
    engine_seconds = sum(item.record.seconds for item in read_all.values())
    return Reading(
        extraction=decision.extraction,
        pages=tuple(map(_page, sheets, shown, [words_of] * len(sheets))),
        passes=passes.selected(read_all, [item.record.pass_id for item in shown]),
        timings={
            "text_extraction_seconds": round(opened - started, 3),
            "layout_extraction_seconds": round(engine_seconds, 3),
            "structuring_seconds": round(time.monotonic() - opened - engine_seconds, 3),
        },
    )


def _opened(data: bytes, limits: ReadingLimits) -> Document:
    if not data:
        raise PermanentError(Reason.EMPTY_FILE)
    if len(data) > limits.max_bytes:
        raise PermanentError(Reason.TOO_LARGE)
    return PdfDocument(data, limits) if is_pdf(data) else ImageDocument(data, limits)


def _sheets(document: Document, words_of: Vocabulary) -> Iterator[Sheet]:
    for number, page in enumerate(document.pages(), start=1):
        given = lines.rows(page.layer, page=number)
        if layer.is_usable(given, has_pictures=page.has_pictures):
            width = max(line.box.right for line in given)
            yield Sheet(
                number,
                card.redacted(lines.cleaned(given), words_of),
                None,
                None,
                width,
                layer_refused=False,
            )
            continue
        image, dpi = page.image()
        picture = imaging.straightened(image) if min(image.size) >= LEAST_SIDE else None
        yield Sheet(number, (), picture, dpi, image.width, layer_refused=layer.has_text(given))


def _read_until_proven(
    sheets: Sequence[Sheet],
    settings: ReadingSettings,
    words_of: Vocabulary,
    assumptions: Assumptions,
) -> tuple[list[tuple[PageOutcome, ...]], Decision]:
    """Run the steps; returns the outcomes of each and the last decision."""
    engine = Tesseract(languages=settings.languages, timeout=settings.pass_timeout)
    runner = Passes(engine, settings.languages, words_of)
    upright, first, certain = runner.first(STEPS[0], sheets)
    signs = _signs(sheets, first, words_of, assumptions)
    if not certain:
        signs.add(ReviewReason.ORIENTATION_UNCERTAIN)
    rounds, readings = [first], [_round(first, words_of, assumptions)]
    decision = consensus.decide(readings, signs=frozenset(signs))
    for step in _more_steps(upright):
        if decision.extraction.status is not ExtractionStatus.REVIEW:
            break
        outcomes = _again(runner, step, upright, rounds)
        if outcomes is None:
            signs.add(ReviewReason.LIMIT_HIT)  # what was read so far stands, for a person to see
            return rounds, consensus.decide(readings, signs=frozenset(signs))
        rounds.append(outcomes)
        readings.append(_round(outcomes, words_of, assumptions))
        decision = consensus.decide(readings, signs=frozenset(signs))
    return rounds, decision


def _more_steps(sheets: Sequence[Sheet]) -> tuple[Step, ...]:
    pictured = sum(sheet.picture is not None for sheet in sheets)
    return STEPS[1:] if 0 < pictured <= MANY_PAGES else ()


def _again(
    runner: Passes, step: Step, sheets: Sequence[Sheet], rounds: Sequence[tuple[PageOutcome, ...]]
) -> tuple[PageOutcome, ...] | None:
    """Run one more step; None when a pass of it took too long."""
    next_id = 1 + max(item.record.pass_id for item in rounds[-1])
    try:
        return runner.again(step, sheets, before=rounds[0], next_id=next_id)
    except AttemptError as error:
        if error.reason is not Reason.TIMEOUT:
            raise
        return None


def _round(
    outcomes: Sequence[PageOutcome], words_of: Vocabulary, assumptions: Assumptions
) -> RoundReading:
    every = tuple(line for outcome in outcomes for line in outcome.lines)
    return RoundReading(
        pages=tuple(PageReading(item.record.page_number, item.record.pass_id) for item in outcomes),
        given=all(item.record.engine == LAYER_ENGINE for item in outcomes),
        lines=every,
        findings=receipt.read(every, words_of, assumptions),
    )


def _signs(
    sheets: Sequence[Sheet],
    outcomes: Sequence[PageOutcome],
    words_of: Vocabulary,
    assumptions: Assumptions,
) -> set[ReviewReason]:
    """Reasons for review that lie in the pages, not in the fields."""
    words = [word for outcome in outcomes for word in outcome.words]
    read_words = [
        word
        for word in words
        if word.confidence >= CONFIDENT and sum(mark.isalnum() for mark in word.text) > 1
    ]
    if len(read_words) < LEAST_WORDS:
        return {ReviewReason.UNREADABLE}
    signs = set()
    if orientation.readable_share(words) < LOW_TEXT_SHARE:
        signs.add(ReviewReason.LOW_TEXT)
    if sum(sheet.picture is not None for sheet in sheets) > MANY_PAGES:
        signs.add(ReviewReason.LIMIT_HIT)
    if any(sheet.layer_refused for sheet in sheets):
        signs.add(ReviewReason.TEXT_LAYER_UNTRUSTED)
    if _are_multiple(outcomes, words_of, assumptions):
        signs.add(ReviewReason.MULTIPLE_RECEIPTS)
    return signs


def _are_multiple(
    outcomes: Sequence[PageOutcome], words_of: Vocabulary, assumptions: Assumptions
) -> bool:
    if any(multiple.two_columns(outcome.words, words_of) for outcome in outcomes):
        return True
    if len(outcomes) == 1:
        return False
    return multiple.two_pages(
        [receipt.read(outcome.lines, words_of, assumptions) for outcome in outcomes]
    )


def _page(sheet: Sheet, outcome: PageOutcome, words_of: Vocabulary) -> PageRecord:
    rows = labels.read_rows(outcome.lines, words_of)
    return PageRecord(
        page_number=sheet.number,
        width=sheet.width,
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
