"""Which way up a page is, by how much of it can be read.

An engine's own orientation detection turns upright receipts over; the mass of confident characters
was right on every receipt measured. Only pages that read badly are looked at.
"""

from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from receipt_worker import imaging
from receipt_worker.engines.base import Engine
from receipt_worker.extraction.lines import Word, confident_mass

READABLE_SHARE = 0.35  # confident mass of all characters from which a page is upright; turned: 0.15
WINS_BY = 2.0  # how much more must be readable for a turn to be believed
PROBE_SIDE = 1800  # pixels; enough to tell, and cheap
TURNS = (180, 90, 270)  # degrees counter-clockwise, likelier first
_PSM = 6
_FULL = 100.0


class Upright(NamedTuple):
    """The page the right way up; `turn` in degrees counter-clockwise; `certain` when one won."""

    page: Image.Image
    turn: int
    certain: bool


def upright(page: Image.Image, words: Sequence[Word], engine: Engine) -> Upright:
    """Turn a page that reads badly, when another way up reads clearly better."""
    if readable_share(words) >= READABLE_SHARE or not imaging.has_ink(page):
        return Upright(page, 0, certain=True)
    probe = page.copy()
    probe.thumbnail((PROBE_SIDE, PROBE_SIDE))
    # Judged on the same small image, so that size decides nothing.
    masses = {0: _mass(probe, engine)}
    for turn in TURNS:
        masses[turn] = _mass(probe.rotate(turn, expand=True), engine)
        others = [mass for other, mass in masses.items() if other != turn]
        if masses[turn] > _FULL * 20 and masses[turn] >= WINS_BY * 2 * max(others):
            break  # clear before every turn was tried
    best = max(masses, key=lambda turn: masses[turn])
    others = [mass for turn, mass in masses.items() if turn != best]
    certain = masses[best] >= WINS_BY * max(others)
    if best == 0 or not certain:
        return Upright(page, 0, certain)
    return Upright(page.rotate(best, expand=True), best, certain)


def readable_share(words: Sequence[Word]) -> float:
    """Confident mass as a share of what it would be if every character was certain."""
    characters = sum(len(word.text) for word in words)
    return confident_mass(words) / (_FULL * characters) if characters else 0.0


def _mass(page: Image.Image, engine: Engine) -> float:
    prepared = imaging.prepare(page, imaging.Variant.EVEN_BLUR, letter_height=None)
    return confident_mass(engine.words(prepared.image, psm=_PSM))
