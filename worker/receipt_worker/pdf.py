"""PDFs through pdfium: text layer first, pages rendered one at a time within limits.

The only module that imports pypdfium2. Raises PermanentError as `intake` does.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from receipt_contract.errors import PermanentError, Reason
from receipt_worker.extraction.lines import MOST_WORDS, Box, Word
from receipt_worker.intake import PageImage
from receipt_worker.settings import ReadingLimits

POINTS_PER_INCH = 72
LAYER_CONFIDENCE = 100.0  # a text layer is not read but given
FILLS = 0.9  # share of a page that a picture covers to be the page
DEEPEST_FORM = 3  # form objects inside form objects that are searched for pictures

_REASONS = {
    pdfium.FPDF_ERR_PASSWORD: Reason.ENCRYPTED,
    pdfium.FPDF_ERR_SECURITY: Reason.ENCRYPTED,
}

_Edges = tuple[int, int, int, int]  # left, top, right, bottom


class PdfDocument:
    """An opened PDF."""

    def __init__(self, data: bytes, limits: ReadingLimits) -> None:
        try:
            self._pdf = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            reason = _REASONS.get(getattr(error, "err_code", None), Reason.CORRUPT)
            raise PermanentError(reason) from error
        self.page_count = len(self._pdf)
        if self.page_count > limits.max_pages:
            raise PermanentError(Reason.TOO_MANY_PAGES)
        self._limits = limits

    def pages(self) -> Iterator["PdfPage"]:
        """All pages in order; the one before is closed."""
        for number in range(self.page_count):
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
        """Words of the text layer, y downwards; of turned pages in the order of the layer.

        One more than are read tells that there are more, of which a layer may hold millions.
        """
        text_page = self._page.get_textpage()
        try:
            if self._page.get_rotation():
                return _unplaced(text_page.get_text_range())
            return _placed(text_page, height=self._page.get_height())
        except (pypdfium2.PdfiumError, UnicodeDecodeError):
            return ()
        finally:
            text_page.close()

    @property
    def has_pictures(self) -> bool:
        """Whether a picture is drawn on the page."""
        return any(True for _ in self._pictures())

    def image(self) -> PageImage:
        """Render in grey; the dpi is lowered until the page fits the limits."""
        self._check_pictures()
        dpi = self._fitting_dpi()
        try:
            bitmap = self._page.render(scale=dpi / POINTS_PER_INCH, grayscale=True)
        except pypdfium2.PdfiumError as error:
            raise PermanentError(Reason.CORRUPT) from error
        # The conversion copies, so the picture outlives pdfium's buffer.
        return PageImage(bitmap.to_pil().convert("L"), dpi)

    def _fitting_dpi(self) -> int:
        width, height = self._page.get_size()
        limits = self._limits
        inches = max(width * height, 1) / POINTS_PER_INCH**2
        by_pixels = (limits.max_pixels / inches) ** 0.5
        by_side = limits.max_side_pixels * POINTS_PER_INCH / max(width, height, 1)
        dpi = int(min(limits.render_dpi, by_pixels, by_side, self._scanned_dpi()))
        if dpi < limits.min_dpi:
            raise PermanentError(Reason.TOO_LARGE)
        return dpi

    def _scanned_dpi(self) -> float:
        """Resolution of the one picture that fills the page: more would only blur it."""
        pictures = tuple(self._pictures())
        if len(pictures) != 1:
            return float(self._limits.render_dpi)
        left, bottom, right, top = pictures[0].get_bounds()
        area = self._page.get_width() * self._page.get_height()
        if (right - left) * (top - bottom) < FILLS * area or right <= left:
            return self._limits.render_dpi
        width, _ = pictures[0].get_px_size()
        return float(max(self._limits.min_dpi, width * POINTS_PER_INCH / (right - left)))

    def _check_pictures(self) -> None:
        """Refuse pictures that are together over the limits before pdfium decodes them."""
        pixels = 0
        for picture in self._pictures():
            width, height = picture.get_px_size()
            pixels += width * height
            # A page scanned at a high resolution is drawn smaller; only bombs are refused.
            if pixels > self._limits.max_picture_pixels:
                raise PermanentError(Reason.TOO_LARGE)

    def _pictures(self) -> Iterator[Any]:
        yield from self._page.get_objects(
            filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=DEEPEST_FORM
        )


def _placed(text_page: Any, *, height: float) -> tuple[Word, ...]:
    """Join characters to words; pdfium itself puts spaces where a gap is."""
    words: list[Word] = []
    marks: list[str] = []
    edges: list[_Edges] = []
    place = pdfium.FS_RECTF()
    for number in range(text_page.count_chars()):
        if len(words) > MOST_WORDS:
            break
        mark = chr(pdfium.FPDFText_GetUnicode(text_page, number))
        own = None if mark.isspace() else _edges(text_page, number, place, height)
        if marks and (own is None or _is_apart(edges[-1], own)):
            words.append(_word(marks, edges))
            marks, edges = [], []
        if own is not None:
            marks.append(mark)
            edges.append(own)
    if marks:
        words.append(_word(marks, edges))
    return tuple(words)


def _edges(text_page: Any, number: int, place: Any, height: float) -> _Edges:
    """Return the edges of a character, y downwards; `place` is pdfium's to fill."""
    if not pdfium.FPDFText_GetLooseCharBox(text_page, number, place):
        raise pypdfium2.PdfiumError("a character has no place")
    left, top = round(place.left), round(height - place.top)
    width, depth = round(place.right - place.left), round(place.top - place.bottom)
    return left, top, left + max(1, width), top + max(1, depth)


def _is_apart(last: _Edges, own: _Edges) -> bool:
    """Say whether a character cannot continue the word that ended with another."""
    _, last_top, last_right, last_bottom = last
    height, gap = last_bottom - last_top, own[0] - last_right
    return abs(own[1] - last_top) > height / 2 or not -height < gap < height


def _word(marks: Sequence[str], edges: Sequence[_Edges]) -> Word:
    lefts, tops, rights, bottoms = zip(*edges, strict=True)
    left, top = min(lefts), min(tops)
    box = Box(left, top, max(rights) - left, max(bottoms) - top)
    return Word("".join(marks), LAYER_CONFIDENCE, box)


def _unplaced(text: str) -> tuple[Word, ...]:
    """Words in invented places that keep the layer's own lines."""
    return tuple(
        Word(part, LAYER_CONFIDENCE, Box(place * 10, row * 20, 10, 10))
        for row, line in enumerate(text.splitlines())
        for place, part in enumerate(line.split())
    )
