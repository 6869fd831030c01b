"""What lies in a file: told by content, measured from headers, before anything is decoded.

Raises PermanentError with EMPTY_FILE, UNSUPPORTED_TYPE, CORRUPT, ENCRYPTED, TOO_LARGE or
TOO_MANY_PAGES. Never looks at a file's name.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import pillow_heif
from PIL import Image, ImageOps, UnidentifiedImageError

from receipt_contract.errors import PermanentError, Reason
from receipt_worker import imaging
from receipt_worker.extraction.lines import Word
from receipt_worker.settings import ReadingLimits

pillow_heif.register_heif_opener()
Image.MAX_IMAGE_PIXELS = None  # our own limits are looked at before a pixel is decoded

PDF_MAGIC = b"%PDF-"
PDF_HEADER_BYTES = 1024  # readers accept junk before the header within this range
IMAGE_FORMATS = ("JPEG", "PNG", "TIFF", "HEIF", "WEBP", "BMP", "GIF")
PAGED_FORMATS = ("TIFF", "HEIF")  # further frames of others move, or hold the depth of a photo
IMAGE_MAGIC = re.compile(
    rb"\xff\xd8\xff|\x89PNG|II\*\0|MM\0\*|II\+\0|MM\0\+|GIF8|BM|RIFF....WEBP"
    rb"|....ftyp(?:hei[cmsx]|hev[cmsx]|mi[af]f|msf1|avi[fs])",
    re.DOTALL,
)
EXIF_TURNS = frozenset(range(2, 9))


class PageImage(NamedTuple):
    """One page in grey; dpi where it is known."""

    image: Image.Image
    dpi: int | None


class Page(Protocol):
    """One page of a document."""

    @property
    def layer(self) -> Sequence[Word]:
        """Words of a text layer, places in points; empty where there is none."""
        ...

    @property
    def has_pictures(self) -> bool:
        """Whether something on the page is a picture, which may hold what the layer lacks."""
        ...

    def image(self) -> PageImage:
        """Decode or render the page."""
        ...


class Document(Protocol):
    """An opened file; pages are decoded when they are asked for."""

    @property
    def page_count(self) -> int:
        """How many pages there are."""
        ...

    def pages(self) -> Iterator[Page]:
        """All pages in order; one is valid until the next is asked for."""
        ...


def is_pdf(data: bytes) -> bool:
    """Whether the bytes are a PDF."""
    return PDF_MAGIC in data[:PDF_HEADER_BYTES]


class ImageDocument:
    """A picture with one or more frames."""

    def __init__(self, data: bytes, limits: ReadingLimits) -> None:
        with _refusals(_unidentified(data)):
            self._image = Image.open(io.BytesIO(data), formats=IMAGE_FORMATS)
            paged = self._image.format in PAGED_FORMATS
            frames = int(getattr(self._image, "n_frames", 1)) if paged else 1
        if frames > limits.max_pages:
            raise PermanentError(Reason.TOO_MANY_PAGES)
        self.page_count = frames
        self._limits = limits

    def pages(self) -> Iterator["ImagePage"]:
        """All frames."""
        for number in range(self.page_count):
            with _refusals():
                self._image.seek(number)
            check_pixels(*self._image.size, self._limits)
            yield ImagePage(self._image)


class ImagePage:
    """One frame of a picture."""

    layer: Sequence[Word] = ()
    has_pictures = True

    def __init__(self, image: Image.Image) -> None:
        self._image = image

    def image(self) -> PageImage:
        """Decode the frame, upright as its EXIF data says."""
        with _refusals():
            self._image.load()
            upright = self._image
            if self._image.getexif().get(0x0112) in EXIF_TURNS:
                upright = ImageOps.exif_transpose(self._image)
            return PageImage(imaging.grey(upright), _dpi(self._image))


def check_pixels(width: int, height: int, limits: ReadingLimits) -> None:
    """Raise PermanentError(TOO_LARGE) for a picture over the limits."""
    if max(width, height) > limits.max_side_pixels or width * height > limits.max_pixels:
        raise PermanentError(Reason.TOO_LARGE)


def _unidentified(data: bytes) -> Reason:
    """Say what is wrong with a file that Pillow does not know: its type, or only its beginning."""
    return Reason.CORRUPT if IMAGE_MAGIC.match(data) else Reason.UNSUPPORTED_TYPE


@contextmanager
def _refusals(unidentified: Reason = Reason.CORRUPT) -> Iterator[None]:
    """Turn what Pillow raises for bad files into our reasons."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata of a file is no matter of the program
            yield
    except UnidentifiedImageError as error:
        raise PermanentError(unidentified) from error
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError) as error:
        raise PermanentError(Reason.CORRUPT) from error


def _dpi(image: Image.Image) -> int | None:
    try:
        return max(0, round(float(image.info["dpi"][0]))) or None
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError):
        return None
