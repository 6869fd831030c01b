"""Which way up a page is, by how much of it can be read.

An engine's own orientation detection turns upright receipts over; the mass of confident characters
was right on every receipt measured. Only pages that read badly are looked at, and of those only
the part with most ink, on a small image.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PIL import Image

from receipt_worker import imaging
from receipt_worker.engines.base import Engine
from receipt_worker.extraction.lines import Word, confident_mass

READABLE_SHARE = 0.35  # confident mass of all characters from which a page is upright
# Measured on the labelled receipts. Tesseract turned over: 0.15. RapidOCR upright: from 0.73 on;
# turned over: to 0.17.
WINS_BY = 2.0  # how much more must be readable for a turn to be believed
CLEARLY = 4.0  # the same, to be believed before every turn was tried
CLEAR_MASS = 2000.0  # twenty certain characters
LEAST_MASS = 800.0  # a word or two, which decide nothing by chance
PROBE_SIDE = 1800  # pixels of the small image; letters are just large enough
PART_SIDES = (400, 900, 1800)  # pixels of the part that is read; more where less tells nothing
LARGE_PAGE = 3_000_000  # pixels from which a wasted pass costs more than a look beforehand
TURNS = (180, 90, 270)  # degrees counter-clockwise, likelier first
_FULL = 100.0


class Upright(NamedTuple):
    """The page the right way up; `turn` in degrees counter-clockwise; `certain` when one won."""

    page: Image.Image
    turn: int
    certain: bool


def beforehand(page: Image.Image, probe: Engine) -> Upright:
    """Turn a large page before it is read, when another way up reads clearly better."""
    if page.width * page.height < LARGE_PAGE or not imaging.has_ink(page):
        return Upright(page, 0, certain=True)
    words = _words(_part(page, PART_SIDES[0]), probe)
    if readable_share(words) >= READABLE_SHARE:
        return Upright(page, 0, certain=True)
    return _best(page, probe, mass=confident_mass(words))


def upright(page: Image.Image, words: Sequence[Word], probe: Engine) -> Upright:
    """Turn a page that reads badly, when another way up reads clearly better."""
    if readable_share(words) >= READABLE_SHARE or not imaging.has_ink(page):
        return Upright(page, 0, certain=True)
    return _best(page, probe)


def _best(page: Image.Image, probe: Engine, *, mass: float | None = None) -> Upright:
    """Look at larger and larger parts until one way up wins: ink may be a logo or a code.

    `mass` is that of the smallest part as it is, when it was read before.
    """
    tried: set[tuple[int, int]] = set()
    for side in PART_SIDES:
        part = _part(page, side)
        if part.size in tried:
            break  # the page is no larger
        tried.add(part.size)
        turn = _winner(part, probe, mass=mass)
        if turn is not None:
            turned = page.rotate(turn, expand=True) if turn else page
            return Upright(turned, turn, certain=True)
        mass = None
    return Upright(page, 0, certain=False)


def _part(page: Image.Image, side: int) -> Image.Image:
    return imaging.inkiest(page, side=PROBE_SIDE, part=side)


def _winner(part: Image.Image, probe: Engine, *, mass: float | None) -> int | None:
    """Find the turn that reads clearly better than all others, judged on the same small part."""
    masses = {0: confident_mass(_words(part, probe)) if mass is None else mass}
    for turn in TURNS:
        masses[turn] = confident_mass(_words(part.rotate(turn, expand=True), probe))
        # Dense print upside down has certain words too, so the opposite must have been tried.
        opposite_tried = (turn + 180) % 360 in masses
        if opposite_tried and _is_clear(masses, turn):
            return turn
    best = max(masses, key=lambda turn: masses[turn])
    wins = masses[best] >= max(LEAST_MASS, WINS_BY * _most_of_others(masses, best))
    return best if wins else None


def _is_clear(masses: Mapping[int, float], turn: int) -> bool:
    return masses[turn] > CLEAR_MASS and masses[turn] >= CLEARLY * _most_of_others(masses, turn)


def _most_of_others(masses: Mapping[int, float], turn: int) -> float:
    return max(mass for other, mass in masses.items() if other != turn)


def readable_share(words: Sequence[Word]) -> float:
    """Confident mass as a share of what it would be if every character was certain."""
    characters = sum(len(word.text) for word in words)
    return confident_mass(words) / (_FULL * characters) if characters else 0.0


def _words(part: Image.Image, probe: Engine) -> tuple[Word, ...]:
    prepared = imaging.prepare(part, imaging.Variant.EVEN_BLUR, letter_height=None)
    return probe.words(prepared.image)
