"""The digits of a masked card on a real picture, looked at by the real program."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from receipt_worker import card_digits
from receipt_worker.document import PassRecord, PassStatus
from receipt_worker.engines.base import Engine
from receipt_worker.engines.rapidocr import RapidOcr
from receipt_worker.engines.tesseract import Tesseract
from receipt_worker.extraction import vocabulary
from receipt_worker.extraction.lines import Box, Line, Word
from receipt_worker.passes import PageOutcome

PITCH, HEIGHT = 20, 30  # pixels between letters, and of a row
LEFT, TOP = 40, 60
ENGINE = Tesseract(languages="eng", psm=6, only="0123456789")


def printed(digits: str) -> Image.Image:
    """Draw a number with its mask as tills do, every letter as wide as the other."""
    page = Image.new("L", (600, 400), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(HEIGHT)
    for place, mark in enumerate(f"PAN {'#' * 12}{digits}"):
        pen.text((LEFT + place * PITCH, TOP + 2 * HEIGHT), mark, font=font, fill="black")
    return page


def misread(suffix: str, *, behind: int = 0) -> PageOutcome:
    """Return a pass that took the mask for letters, and its first digit for one of them.

    `behind`: pixels by which the box of the digits ends behind them.
    """
    card = Word("Kartenzahlung", 95.0, Box(LEFT, TOP, 13 * PITCH, HEIGHT))
    label = Word("PAN", 95.0, Box(LEFT, TOP + 2 * HEIGHT, 3 * PITCH, HEIGHT))
    mask = Word("HHHRHHRHHHHHS", 10.0, label.box._replace(x=LEFT + 4 * PITCH, width=13 * PITCH))
    told = Word(suffix, 70.0, label.box._replace(x=LEFT + 17 * PITCH, width=3 * PITCH + behind))
    lines = (Line(1, 1, (card,)), Line(1, 2, (label, mask, told)))
    record = PassRecord(
        pass_id=1,
        engine=ENGINE.name,
        engine_type=ENGINE.engine_type,
        variant="grey",
        status=PassStatus.SUCCESS,
        psm=6,
        page_number=1,
        dpi=None,
        line_count=2,
        character_count=30,
        confident_mass=0.0,
        valid_timestamp=False,
        selected_base=False,
        seconds=0.1,
        text="",
    )
    return PageOutcome(record, lines, cut=False)


def last_line(*outcomes: PageOutcome, digits: str, engine: Engine = ENGINE) -> list[str]:
    seen = card_digits.completed(outcomes, printed(digits), vocabulary.load(), engine=engine)
    return [outcome.lines[-1].text for outcome in seen]


@pytest.mark.parametrize("engine", [ENGINE, RapidOcr(timeout=120.0)], ids=lambda one: one.name)
@pytest.mark.parametrize("behind", [0, PITCH // 2])
def test_digits_that_passes_took_for_the_mask_are_seen_by_a_second_look(
    engine: Engine, behind: int
) -> None:
    outcomes = (misread("711", behind=behind), misread("711", behind=behind))

    assert last_line(*outcomes, digits="4711", engine=engine) == ["PAN ************4711"] * 2


@pytest.mark.parametrize("digits", ["4722", ""], ids=["other digits", "no digits"])
def test_digits_that_the_passes_did_not_read_are_not_made_up(digits: str) -> None:
    assert last_line(misread("711"), digits=digits) == [misread("711").lines[-1].text]
