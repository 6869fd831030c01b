"""PDFs through pdfium: text layer first, pages rendered one at a time within limits.

The only module that imports pypdfium2. Raises PermanentError as `intake` does.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from receipt_contract.errors import PermanentError, Reason
from receipt_worker.extraction.lines import Box, Word
from receipt_worker.intake import PageImage
from receipt_worker.settings import ReadingLimits

POINTS_PER_INCH = 72
LAYER_CONFIDENCE = 100.0  # a text layer is not read but given
DEEPEST_FORM = 3  # form objects inside form objects that are searched for pictures

_REASONS = {
    pdfium.FPDF_ERR_PASSWORD: Reason.ENCRYPTED,
    pdfium.FPDF_ERR_SECURITY: Reason.ENCRYPTED,
}


class PdfDocument:
    """An opened PDF."""

    def __init__(self, data: bytes, limits: ReadingLimits) -> None:
        try:
            self._pdf = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            reason = _REASONS.get(getattr(error, "err_code", None), Reason.CORRUPT)
            raise PermanentError(reason) from error
        if len(self._pdf) > limits.max_pages:
            raise PermanentError(Reason.TOO_MANY_PAGES)
        self._limits = limits

    def pages(self) -> Iterator["PdfPage"]:
        """All pages in order; the one before is closed."""
        for number in range(len(self._pdf)):
            try:
                page = self._pdf[number]
            except pypdfium2.PdfiumError as error:
                raise PermanentError(Reason.CORRUPT) from error
            try:
                yield PdfPage(page, self._limits)
            finally:
                page.close()


class PdfPage:
    """One page of a PDF."""

    def __init__(self, page: Any, limits: ReadingLimits) -> None:
        self._page = page
        self._limits = limits

    @property
    def layer(self) -> Sequence[Word]:
        """Words of the text layer, y downwards; of turned pages in the order of the layer."""
        text_page = self._page.get_textpage()
        try:
            if self._page.get_rotation():
                return _unplaced(text_page.get_text_range())
            return _placed(text_page, height=self._page.get_height())
        except (pypdfium2.PdfiumError, UnicodeDecodeError):
            return ()
        finally:
            text_page.close()

    def image(self) -> PageImage:
        """Render in grey; the dpi is lowered until the page fits the limits."""
        self._check_pictures()
        dpi = self._fitting_dpi()
        try:
            bitmap = self._page.render(scale=dpi / POINTS_PER_INCH, grayscale=True)
        except pypdfium2.PdfiumError as error:
            raise PermanentError(Reason.CORRUPT) from error
        image = bitmap.to_pil().convert("L")
        return PageImage(image.copy(), dpi)

    def _fitting_dpi(self) -> int:
        width, height = self._page.get_size()
        limits = self._limits
        inches = max(width * height, 1) / POINTS_PER_INCH**2
        by_pixels = (limits.max_pixels / inches) ** 0.5
        by_side = limits.max_side_pixels * POINTS_PER_INCH / max(width, height, 1)
        dpi = int(min(limits.render_dpi, by_pixels, by_side))
        if dpi < limits.min_dpi:
            raise PermanentError(Reason.TOO_LARGE)
        return dpi

    def _check_pictures(self) -> None:
        """Refuse pictures over the limits before pdfium decodes them."""
        pictures = self._page.get_objects(
            filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=DEEPEST_FORM
        )
        for picture in pictures:
            width, height = picture.get_px_size()
            # A page scanned at a high resolution is drawn smaller; only bombs are refused.
            if width * height > self._limits.max_picture_pixels:
                raise PermanentError(Reason.TOO_LARGE)


def _placed(text_page: Any, *, height: float) -> tuple[Word, ...]:
    words = []
    for number in range(text_page.count_rects()):
        left, bottom, right, top = text_page.get_rect(number)
        text = text_page.get_text_bounded(left, bottom, right, top)
        box = Box(
            round(left),
            round(height - top),
            max(1, round(right - left)),
            max(1, round(top - bottom)),
        )
        words += _split(" ".join(text.split()), box)
    return tuple(words)


def _split(text: str, box: Box) -> list[Word]:
    """Share a run's box among its words by their length."""
    words, place = [], 0
    for part in text.split():
        at = text.index(part, place)
        place = at + len(part)
        x = box.x + box.width * at // len(text)
        width = max(1, box.width * len(part) // len(text))
        words.append(Word(part, LAYER_CONFIDENCE, Box(x, box.y, width, box.height)))
    return words


def _unplaced(text: str) -> tuple[Word, ...]:
    """Words in invented places that keep the layer's own lines."""
    return tuple(
        Word(part, LAYER_CONFIDENCE, Box(place * 10, row * 20, 10, 10))
        for row, line in enumerate(text.splitlines())
        for place, part in enumerate(line.split())
    )
