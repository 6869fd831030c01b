"""The pages of a file made ready to be read: its text layer, or its picture with level rows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from PIL import Image

from receipt_contract.errors import PermanentError, Reason
from receipt_worker import imaging, layer
from receipt_worker.extraction import card, lines
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.intake import Document, ImageDocument, Page, is_pdf
from receipt_worker.pdf import PdfDocument
from receipt_worker.settings import ReadingLimits

LEAST_SIDE = 32  # pixels; a smaller picture holds no line of letters


@dataclass(frozen=True)
class Sheet:
    """One page ready to be read: a usable text layer, or a picture, or neither (too small).

    Width in pixels of the picture, in points where there is none.
    """

    number: int
    layer: tuple[Line, ...]
    layer_cut: bool  # where it held more than is read
    picture: Image.Image | None
    dpi: int | None
    width: int
    layer_refused: bool

    def turned(self, picture: Image.Image) -> "Sheet":
        """Return the page with its picture the other way up."""
        return replace(self, picture=picture, width=picture.width)

    def without_picture(self) -> "Sheet":
        """Return what is still needed when nobody will read the page again."""
        return replace(self, picture=None)


def opened(data: bytes, limits: ReadingLimits) -> Document:
    """Open a file by its content. Raises PermanentError."""
    if not data:
        raise PermanentError(Reason.EMPTY_FILE)
    if len(data) > limits.max_bytes:
        raise PermanentError(Reason.TOO_LARGE)
    return PdfDocument(data, limits) if is_pdf(data) else ImageDocument(data, limits)


def sheets(document: Document, vocabulary: Vocabulary) -> Iterator[Sheet]:
    """Decode page after page; only one is held at a time. Raises PermanentError."""
    for number, page in enumerate(document.pages(), start=1):
        words = page.layer
        given = lines.rows(words[: lines.MOST_WORDS], page=number)
        if layer.is_usable(given, has_pictures=page.has_pictures):
            yield _given(given, vocabulary, cut=len(words) > lines.MOST_WORDS)
        else:
            yield _pictured(page, number, layer_refused=layer.has_text(given))


def _given(found: tuple[Line, ...], vocabulary: Vocabulary, *, cut: bool) -> Sheet:
    return Sheet(
        number=found[0].page,
        layer=card.redacted(lines.cleaned(found), vocabulary),
        layer_cut=cut,
        picture=None,
        dpi=None,
        width=max(line.box.right for line in found),
        layer_refused=False,
    )


def _pictured(page: Page, number: int, *, layer_refused: bool) -> Sheet:
    image, dpi = page.image()
    picture = imaging.straightened(image) if min(image.size) >= LEAST_SIDE else None
    return Sheet(
        number=number,
        layer=(),
        layer_cut=False,
        picture=picture,
        dpi=dpi,
        width=image.width,
        layer_refused=layer_refused,
    )
