"""Page images made ready for an engine: grey, cropped to the ink, lit evenly, scaled, turned.

Pure picture work with Pillow: image in, image out. Never opens a file.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter, ImageOps

from receipt_worker.extraction.lines import Box, Word

BLUR_SIGMA = 0.8  # pixels; joins broken dot print
LEAST_LEAN = 0.8  # degrees; less does not disturb an engine
LEANS = tuple(map(float, range(-6, 7)))  # degrees that are tried
LEAN_GAIN = 1.25  # how much sharper rows must become for a page to be turned
LEAN_WIDTH = 300  # pixels of the image that is judged
LETTER_PX = 28  # height of a word at which Tesseract reads best
SCALES = (0.4, 3.0)  # never shrink or grow a page beyond these
MAX_VARIANT_PIXELS = 25_000_000
BACKGROUND_REDUCTION = 8  # the background is estimated on an image this much smaller
CROP_REDUCTION = 4
SMALL_PAGE = 450_000  # pixels up to which margins cost nothing
CROP_MARGIN = 24  # pixels kept around the ink
INK_CONTRAST = 40  # grey levels below the surroundings from which a pixel is ink
SOLID = 140  # mean ink (0..255) from which a column or row is a bar, not text
COLUMN_SHARE, ROW_SHARE = 0.12, 0.02  # of the inkiest column and row; lines stand far apart


class Variant(StrEnum):
    """How a page image is prepared; the value stands in pass records."""

    CROPPED = "crop"
    EVEN = "even_scaled"
    EVEN_BLUR = "even_crop_blur"
    NATIVE = "grey"


class Prepared(NamedTuple):
    """A variant, and where it came from: page place = origin + variant place / factor."""

    image: Image.Image
    left: int
    top: int
    factor: float

    def placed(self, words: Sequence[Word]) -> tuple[Word, ...]:
        """Move words from places on the variant to places on the page."""
        return tuple(word._replace(box=self._on_page(word.box)) for word in words)

    def _on_page(self, box: Box) -> Box:
        factor = self.factor
        return Box(
            self.left + round(box.x / factor),
            self.top + round(box.y / factor),
            max(1, round(box.width / factor)),
            max(1, round(box.height / factor)),
        )


def prepare(page: Image.Image, variant: Variant, *, letter_height: float | None) -> Prepared:
    """Make the variant of a grey page; `letter_height` in pixels when a pass measured it."""
    blur = ImageFilter.GaussianBlur(BLUR_SIGMA)
    match variant:
        case Variant.CROPPED:
            if page.width * page.height <= SMALL_PAGE:
                return Prepared(page, 0, 0, 1.0)
            part = cropped(even(page))  # ink shows better where light is even
            return part._replace(image=page.crop(_box_of(part)))
        case Variant.EVEN_BLUR:
            part = cropped(even(page))
            return part._replace(image=part.image.filter(blur))
        case Variant.EVEN:
            part = cropped(even(page))
            image = scaled(part.image, letter_height=letter_height)
            return part._replace(image=image, factor=image.width / part.image.width)
        case Variant.NATIVE:
            return Prepared(page, 0, 0, 1.0)


def _box_of(part: Prepared) -> tuple[int, int, int, int]:
    return part.left, part.top, part.left + part.image.width, part.top + part.image.height


def grey(image: Image.Image) -> Image.Image:
    """Flatten to grey; transparent parts become white."""
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    if image.mode.startswith("I;16") or image.mode in {"I", "F"}:
        low, high = image.getextrema()
        span = max(1.0, float(high) - float(low))  # type: ignore[arg-type]
        image = image.convert("F").point(lambda value: (value - low) * 255.0 / span)
    return image.convert("L")


def even(page: Image.Image) -> Image.Image:
    """Take the shading of the paper away: black letters on an even white."""
    small = page.reduce(BACKGROUND_REDUCTION)
    paper = small.filter(ImageFilter.MaxFilter(5)).filter(ImageFilter.GaussianBlur(6))
    background = paper.resize(page.size, Image.Resampling.BILINEAR)
    dark = ImageChops.subtract(background, page)
    return ImageOps.autocontrast(ImageChops.invert(dark), cutoff=(0.5, 0))


def straightened(page: Image.Image) -> Image.Image:
    """Turn a page until its rows lie level, when they clearly lean."""
    angle = _lean(page)
    if abs(angle) < LEAST_LEAN:
        return page
    return page.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor="white")


def _lean(page: Image.Image) -> float:
    """Angle in degrees by which the page has to be turned counter-clockwise."""
    ink = _ink(page.reduce(max(1, round(page.width / LEAN_WIDTH))))
    level = _levelness(ink, 0.0)
    best = max(LEANS, key=lambda angle: _levelness(ink, angle))
    best = max((best - 0.5, best, best + 0.5), key=lambda angle: _levelness(ink, angle))
    return best if _levelness(ink, best) > LEAN_GAIN * level else 0.0


def _levelness(ink: Image.Image, angle: float) -> float:
    """Say how sharply rows of text and rows of paper follow each other."""
    turned = ink.rotate(angle, Image.Resampling.BILINEAR)
    rows = turned.resize((1, ink.height), Image.Resampling.BOX).tobytes()
    return sum((one - other) ** 2 for one, other in pairwise(rows))


def has_ink(page: Image.Image) -> bool:
    """Whether anything stands out on the page."""
    return _ink(page.reduce(CROP_REDUCTION)).getbbox() is not None


def inkiest(page: Image.Image, *, side: int, part: int) -> Image.Image:
    """Scale the page to `side` pixels, and cut out of it the part of `part` with most ink."""
    small = page.copy()
    small.thumbnail((side, side))
    width, height = min(part, small.width), min(part, small.height)
    ink = _ink(small)
    corners = [
        (left, top) for left in _places(small.width, width) for top in _places(small.height, height)
    ]
    boxes = [(left, top, left + width, top + height) for left, top in corners]
    return small.crop(max(boxes, key=lambda box: ink.crop(box).histogram()[-1]))


def _places(whole: int, part: int) -> tuple[int, ...]:
    """Start, middle and end."""
    return 0, (whole - part) // 2, whole - part


def cropped(page: Image.Image) -> Prepared:
    """Cut away margins: columns and rows that hold next to no ink, specks or the scanner's bed."""
    small = page.reduce(CROP_REDUCTION)
    ink = _ink(small)
    columns = _span(ink.resize((ink.width, 1), Image.Resampling.BOX), least_share=COLUMN_SHARE)
    rows = _span(
        ink.resize((1, ink.height), Image.Resampling.BOX).transpose(Image.Transpose.ROTATE_90),
        least_share=ROW_SHARE,
    )
    if columns is None or rows is None:
        return Prepared(page, 0, 0, 1.0)
    left = max(0, columns[0] * CROP_REDUCTION - CROP_MARGIN)
    top = max(0, rows[0] * CROP_REDUCTION - CROP_MARGIN)
    right = min(page.width, columns[1] * CROP_REDUCTION + CROP_MARGIN)
    bottom = min(page.height, rows[1] * CROP_REDUCTION + CROP_MARGIN)
    return Prepared(page.crop((left, top, right, bottom)), left, top, 1.0)


def _ink(small: Image.Image) -> Image.Image:
    """White where the page is clearly darker than its surroundings."""
    background = small.filter(ImageFilter.MaxFilter(5)).filter(ImageFilter.BoxBlur(8))
    dark = ImageChops.subtract(background, small)
    return dark.point(lambda level: 255 if level > INK_CONTRAST else 0)


def _span(profile: Image.Image, *, least_share: float) -> tuple[int, int] | None:
    """First and last place of a one-row profile that reach a share of its highest place."""
    # Text leaves most of a row and column white; a full one is a rule or an edge of the scanner.
    text = profile.point(lambda level: 0 if level > SOLID else level)
    smooth = text.filter(ImageFilter.BoxBlur(max(2, text.width // 60)))
    levels = list(smooth.tobytes())
    least = max(1.0, max(levels, default=0) * least_share)
    reached = [place for place, level in enumerate(levels) if level >= least]
    return (reached[0], reached[-1] + 1) if reached else None


def scaled(page: Image.Image, *, letter_height: float | None) -> Image.Image:
    """Bring letters to the height the engine reads best, within bounds of size."""
    if letter_height is None:
        return page
    factor = min(max(LETTER_PX / letter_height, SCALES[0]), SCALES[1])
    factor = min(factor, (MAX_VARIANT_PIXELS / (page.width * page.height)) ** 0.5)
    if 0.9 < factor < 1.1:  # noqa: PLR2004 - not worth the resampling
        return page
    size = (max(1, round(page.width * factor)), max(1, round(page.height * factor)))
    return page.resize(size, Image.Resampling.LANCZOS)
