"""Passes of an engine over the pages of a document, each with its record."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

from PIL import Image

from receipt_worker import imaging, orientation
from receipt_worker.document import PassRecord, PassStatus
from receipt_worker.engines.base import Engine
from receipt_worker.extraction import card, dates, lines
from receipt_worker.extraction.lines import Line, Word
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.imaging import Variant
from receipt_worker.sheets import Sheet

LAYER_ENGINE = "pdf_text_layer"
LAYER_TYPE = "embedded_text"
GIVEN = "given"  # variant of a page that was not read but given


class Step(NamedTuple):
    """One pass over every page that has a picture to read."""

    variant: Variant
    engine: Engine


@dataclass(frozen=True)
class PageOutcome:
    """What one pass gave for one page; words with places on the page; `cut` if there were more."""

    record: PassRecord
    lines: tuple[Line, ...]
    cut: bool

    @property
    def words(self) -> tuple[Word, ...]:
        """All words."""
        return tuple(word for line in self.lines for word in line.words)


class FirstLook(NamedTuple):
    """A page the right way up with what its first pass gave; `certain` of which way up it is."""

    sheet: Sheet
    outcome: PageOutcome
    certain: bool


def first(
    step: Step, sheets: Iterable[Sheet], vocabulary: Vocabulary, *, probe: Engine, at_once: int = 1
) -> Iterator[FirstLook]:
    """Read every page once, in order; `probe` finds which way up one is.

    No more than `at_once` pages are held, each read by a thread of its own.
    """
    with ThreadPoolExecutor(at_once) as pool:
        waiting: deque[Future[FirstLook]] = deque()
        for number, sheet in enumerate(sheets, start=1):
            waiting.append(
                pool.submit(_first_look, step, sheet, vocabulary, probe=probe, pass_id=number)
            )
            if len(waiting) == at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _first_look(
    step: Step, sheet: Sheet, vocabulary: Vocabulary, *, probe: Engine, pass_id: int
) -> FirstLook:
    if sheet.picture is None:
        return FirstLook(sheet, _given(sheet, pass_id), certain=True)
    if step.engine.name == probe.name:  # others see at once that a page lies on its side
        turned = orientation.beforehand(sheet.picture, probe)
        sheet = sheet.turned(turned.page) if turned.turn else sheet
    outcome = _run(step, sheet, vocabulary, pass_id=pass_id, letter_height=None)
    turned = orientation.upright(_picture(sheet), outcome.words, probe)
    if turned.turn:
        sheet = sheet.turned(turned.page)
        outcome = _run(step, sheet, vocabulary, pass_id=pass_id, letter_height=None)
    return FirstLook(sheet, outcome, turned.certain)


def again(
    step: Step,
    sheets: Sequence[Sheet],
    vocabulary: Vocabulary,
    *,
    before: Sequence[PageOutcome],
    next_id: int,
) -> tuple[PageOutcome, ...]:
    """Read every pictured page another way than `before`; given pages keep their outcome."""
    outcomes = []
    for sheet, earlier in zip(sheets, before, strict=True):
        if sheet.picture is None:
            outcomes.append(earlier)
            continue
        height = lines.letter_height(earlier.words)
        outcomes.append(_run(step, sheet, vocabulary, pass_id=next_id, letter_height=height))
        next_id += 1
    return tuple(outcomes)


def selected(outcomes: Mapping[int, PageOutcome], chosen: Sequence[int]) -> tuple[PassRecord, ...]:
    """All records in order of pass id, the chosen ones marked."""
    return tuple(
        replace(outcomes[pass_id].record, selected_base=pass_id in chosen)
        for pass_id in sorted(outcomes)
    )


def _run(
    step: Step,
    sheet: Sheet,
    vocabulary: Vocabulary,
    *,
    pass_id: int,
    letter_height: float | None,
) -> PageOutcome:
    engine = step.engine
    started = time.monotonic()
    prepared = imaging.prepare(_picture(sheet), step.variant, letter_height=letter_height)
    words = prepared.placed(engine.words(prepared.image))
    seconds = time.monotonic() - started
    rows = lines.rows(words[: lines.MOST_WORDS], page=sheet.number)
    found = card.redacted(lines.cleaned(rows), vocabulary)
    record = _record(
        found,
        sheet,
        pass_id=pass_id,
        engine=(engine.name, engine.engine_type),
        variant=step.variant,
        seconds=seconds,
    )
    record = replace(record, psm=engine.psm, languages=engine.languages)
    return PageOutcome(record, found, cut=len(words) > lines.MOST_WORDS)


def _given(sheet: Sheet, pass_id: int) -> PageOutcome:
    record = _record(
        sheet.layer,
        sheet,
        pass_id=pass_id,
        engine=(LAYER_ENGINE, LAYER_TYPE),
        variant=GIVEN,
        seconds=0.0,
    )
    return PageOutcome(record, sheet.layer, cut=sheet.layer_cut)


def _picture(sheet: Sheet) -> Image.Image:
    if sheet.picture is None:
        raise ValueError("a given page is not read")
    return sheet.picture


def _record(  # noqa: PLR0913 - a record has this many parts
    found: Sequence[Line],
    sheet: Sheet,
    *,
    pass_id: int,
    engine: tuple[str, str],
    variant: str,
    seconds: float,
) -> PassRecord:
    text = "\n".join(line.text for line in found)
    return PassRecord(
        pass_id=pass_id,
        engine=engine[0],
        engine_type=engine[1],
        variant=variant,
        status=PassStatus.SUCCESS if text else PassStatus.NO_TEXT,
        psm=None,
        page_number=sheet.number,
        dpi=sheet.dpi,
        line_count=len(found),
        character_count=len(text),
        confident_mass=round(lines.confident_mass(word for line in found for word in line.words)),
        valid_timestamp=any(dates.times(line.text) for line in found),
        selected_base=False,
        seconds=round(seconds, 3),
        text=text,
    )
