"""The same receipts made worse: what is read of bad pictures, and whether any is wrongly complete.

Labelled receipts are mostly clean, those of people are not: rules tuned on the former show here
whether they keep quiet where they cannot know.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter

from benchmarks.ocr import measuring, report, scoring
from benchmarks.ocr.labels import Label
from benchmarks.ocr.measuring import Measured
from benchmarks.ocr.report import Figures, Row
from benchmarks.ocr.scoring import Measure, Score
from receipt_worker.settings import ReadingSettings

JPEG_QUALITY = 50
STRIPS = 12  # of a page that bends
ROWS = (
    *(Row(measure.value, measure.value, "%") for measure in Measure if "card" not in measure.value),
    Row("complete", "complete", "%"),
    Row("wrong among complete", "wrong", "", more_is_better=False),
    Row("CPU s a receipt, mean", "cpu_mean", "s", more_is_better=False),
    Row("receipts", "receipts", ""),
)


class Worn(NamedTuple):
    """One receipt, damaged and read."""

    damage: str
    measured: Measured
    score: Score


def read(
    chosen: Sequence[Label], settings: ReadingSettings, *, readers: int, today: date
) -> list[Worn]:
    """Read a sample with every damage."""
    sample = measuring.sample(chosen)
    found = []
    for damage in DAMAGES:
        content = partial(_damaged, damage=damage)
        run = measuring.run(sample, settings, readers=readers, today=today, content=content)
        found += [Worn(damage, one, scoring.score(one.label, one.reading)) for one in run.measured]
    return found


def figures(read: Sequence[Worn]) -> dict[str, Figures]:
    """Sum up each damage."""
    return {
        damage: report.summed([one.score for one in own], [one.measured for one in own])
        for damage in DAMAGES
        if (own := [one for one in read if one.damage == damage])
    }


def misses(read: Sequence[Worn]) -> Iterator[str]:
    """Name every receipt that is wrong though it says it is complete."""
    for one in read:
        if one.score.is_wrong_though_complete:
            values = ", ".join(
                f"{miss.measure} {miss.found!r}, printed {miss.wanted!r}"
                for miss in one.score.misses
            )
            yield f"{one.score.label.name}, {one.damage}: {values}"


def _damaged(label: Label, *, damage: str) -> bytes:
    stream = BytesIO()
    with Image.open(label.path) as picture:
        DAMAGES[damage](picture.convert("L")).save(stream, "JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()


def _blurred(page: Image.Image) -> Image.Image:
    return page.filter(ImageFilter.GaussianBlur(page.width / 900))


def _tilted(page: Image.Image) -> Image.Image:
    return page.rotate(3, Image.Resampling.BICUBIC, expand=True, fillcolor="white")


def _small(page: Image.Image) -> Image.Image:
    size = (round(0.6 * page.width), round(0.6 * page.height))
    return page.resize(size, Image.Resampling.BILINEAR)


def _noisy(page: Image.Image) -> Image.Image:
    return ImageChops.add(page, Image.effect_noise(page.size, 30), 1, -128)


def _faint(page: Image.Image) -> Image.Image:
    return page.point(lambda level: 150 + 80 * level // 255)


def _shaded(page: Image.Image) -> Image.Image:
    shade = Image.linear_gradient("L").resize(page.size)
    return ImageChops.multiply(page, shade.point(lambda level: 110 + 145 * level // 255))


def _bent(page: Image.Image) -> Image.Image:
    """Push strips of the page sideways, as a photo shows paper that does not lie flat."""
    width, height = page.size
    strips = []
    for number in range(STRIPS):
        top, bottom = height * number // STRIPS, height * (number + 1) // STRIPS
        above, below = (
            0.012 * width * math.sin(4 * math.pi * edge / height) for edge in (top, bottom)
        )
        corners = (-above, top, -below, bottom, width - below, bottom, width - above, top)
        strips.append(((0, top, width, bottom), corners))
    return page.transform(
        page.size, Image.Transform.MESH, strips, Image.Resampling.BICUBIC, fillcolor="white"
    )


DAMAGES: Mapping[str, Callable[[Image.Image], Image.Image]] = {
    "blurred": _blurred,
    "tilted": _tilted,
    "small": _small,
    "noisy": _noisy,
    "faint": _faint,
    "shaded": _shaded,
    "bent": _bent,
}
