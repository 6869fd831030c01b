"""The last four digits of a card whose mask the passes could not read: looked at alone, and voted.

A second look at a small place, with digits only. No digit is taken that the looks do not agree on.
"""

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image

from receipt_worker import imaging
from receipt_worker.engines.base import Engine
from receipt_worker.extraction import masks
from receipt_worker.extraction.marks import KEPT
from receipt_worker.extraction.masks import Look, Masked
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.passes import PageOutcome

MARGINS = (0.0, 0.1, 0.2)  # letters to the left of the first digit from which one is cut
BEHIND = 0.4  # letters
HALF_ROW = 0.8  # letter heights
AROUND = 6  # letter heights of page kept around, from which the light of the paper is judged
LEAST_HEIGHT = 40  # pixels of a letter as it is looked at
GAP = 0.5  # letters around which the gap before the digits may lie
DARK = 128  # of 255, below which a whitened pixel is ink
WHITE = 30  # pixels between the cuttings


def completed(
    outcomes: Sequence[PageOutcome],
    picture: Image.Image,
    vocabulary: Vocabulary,
    *,
    engine: Engine,
) -> tuple[PageOutcome, ...]:
    """Return the passes over one page with the digits of its card; as they are without them.

    Raises AttemptError when the engine fails.
    """
    found = [masks.find(outcome.lines, vocabulary) for outcome in outcomes]
    looks = [_look(picture, masked, engine) for masked in found if masked is not None]
    digits = masks.agreed(looks)
    if digits is None:
        return tuple(outcomes)
    return tuple(
        outcome
        if masked is None
        else replace(outcome, lines=masks.with_digits(outcome.lines, masked, digits))
        for outcome, masked in zip(outcomes, found, strict=True)
    )


def _look(picture: Image.Image, masked: Masked, engine: Engine) -> Look:
    """Cut the digits out in several ways, and read all cuttings at once."""
    words = engine.words(_stacked(_cuttings(picture, masked)))
    return masks.look_of((word.text for word in words), masked)


def _cuttings(picture: Image.Image, masked: Masked) -> list[Image.Image]:
    width, height = masked.letter_width, masked.letter_height
    left = max(0, round(masked.right - KEPT * width - AROUND * height))
    top = max(0, round(masked.middle - AROUND * height))
    right, bottom = round(masked.right + AROUND * height), round(masked.middle + AROUND * height)
    part = picture.crop((left, top, min(picture.width, right), min(picture.height, bottom)))
    whitened = imaging.even(part)
    middle = masked.middle - top
    start, end = _ends(whitened, masked.right - left, middle, masked)
    factor = max(1.0, LEAST_HEIGHT / height)
    boxes = [
        (
            round(start - margin * width),
            round(middle - HALF_ROW * height),
            round(end + BEHIND * width),
            round(middle + HALF_ROW * height),
        )
        for margin in MARGINS
    ]
    return [
        cut.resize(
            (round(cut.width * factor), round(cut.height * factor)), Image.Resampling.LANCZOS
        )
        for variant in (part, whitened)
        for cut in (variant.crop(box) for box in boxes)
    ]


def _ends(part: Image.Image, right: int, middle: int, masked: Masked) -> tuple[int, int]:
    """Return where the digits start and end: in the emptiest column before, and with the ink.

    A box may end a part of a letter behind it, and engines do not agree on how wide letters are.
    """
    width, half = masked.letter_width, round(masked.letter_height / 2)
    left = round(right - (KEPT + 1) * width)
    row = part.crop((left, middle - half, round(right + BEHIND * width), middle + half))
    ink = row.point(lambda level: 255 if level < DARK else 0).getbbox()
    end = right if ink is None else left + ink[2]
    low = round(end - (KEPT + GAP) * width)
    between = part.crop((low, middle - half, round(end - (KEPT - GAP) * width), middle + half))
    light = between.resize((between.width, 1), Image.Resampling.BOX).tobytes()
    return low + light.index(max(light)), end


def _stacked(cuttings: Sequence[Image.Image]) -> Image.Image:
    """Lay the cuttings below each other on white paper."""
    width = max(cut.width for cut in cuttings) + 2 * WHITE
    height = sum(cut.height + WHITE for cut in cuttings) + WHITE
    sheet = Image.new("L", (width, height), "white")
    top = WHITE
    for cut in cuttings:
        sheet.paste(cut, (WHITE, top))
        top += cut.height + WHITE
    return sheet
