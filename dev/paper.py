"""Paper: draws lines of a receipt as an image or writes them as a PDF with text.

The same input gives the same bytes with the same Pillow. Letters are those of Pillow's own font,
plain ASCII, so that no font package is needed; only the PDF has umlauts.
"""

from collections.abc import Sequence
from io import BytesIO
from random import Random
from time import gmtime
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

MARGIN_PX = 28
LETTER_PX = 27
LINE_PX = 38
WHITE = 255
BLACK = 0

PDF_WIDTH_PT = 240
PDF_LINE_PT = 14
PDF_MARGIN_PT = 16
PDF_LETTER_PT = 9
PDF_COLUMNS = 38  # characters of Courier at that size between the margins


class Row(NamedTuple):
    """One printed line: text on the left, an amount on the right."""

    text: str
    amount: str = ""


def draw(rows: Sequence[Row], *, width: int = 600) -> Image.Image:
    """Draw rows in black on white, one below the other; the first in larger letters."""
    font = ImageFont.load_default(LETTER_PX)
    title = ImageFont.load_default(LETTER_PX * 1.3)
    paper = Image.new("L", (width, 2 * MARGIN_PX + LINE_PX * (len(rows) + 1)), WHITE)
    pen = ImageDraw.Draw(paper)
    for number, row in enumerate(rows):
        top = MARGIN_PX + LINE_PX * number + (LINE_PX // 2 if number else 0)
        used = font if number else title
        pen.text((MARGIN_PX, top), row.text, font=used, fill=BLACK)
        start = width - MARGIN_PX - used.getlength(row.amount)
        pen.text((start, top), row.amount, font=used, fill=BLACK)
    return paper


def fade(paper: Image.Image, *, seed: int) -> Image.Image:
    """Make the print grey and the paper uneven, as old thermal paper is."""
    grey = paper.point(lambda value: 150 + value * 65 // 255)
    grain = Random(seed).randbytes(paper.width * paper.height)  # noqa: S311 - grain, no secret
    noise = Image.frombytes("L", paper.size, grain)
    return Image.blend(grey, noise, 0.05)


def as_png(paper: Image.Image) -> bytes:
    """Encode with sixteen greys, which is enough for letters and small."""
    return _encode(paper.quantize(16), "PNG", optimize=True)


def as_jpeg(paper: Image.Image) -> bytes:
    """Encode as a phone or a scanner would."""
    return _encode(paper, "JPEG", quality=60, optimize=True)


def as_tiff(paper: Image.Image) -> bytes:
    """Encode as a fax-like scan in black and white."""
    return _encode(paper.convert("1", dither=Image.Dither.NONE), "TIFF", compression="group4")


def as_scanned_pdf(papers: Sequence[Image.Image]) -> bytes:
    """Write a PDF whose pages are pictures; it has no text to be read."""
    first, *others = papers
    epoch = gmtime(0)
    return _encode(
        first,
        "PDF",
        save_all=True,
        append_images=others,
        resolution=200.0,
        quality=60,
        creationDate=epoch,
        modDate=epoch,
    )


def as_text_pdf(rows: Sequence[Row]) -> bytes:
    """Write a PDF with real text in Courier, as a shop's printer driver would."""
    height = 2 * PDF_MARGIN_PT + PDF_LINE_PT * len(rows)
    lines = [f"{row.text:<{PDF_COLUMNS - len(row.amount)}}{row.amount}" for row in rows]
    shown = b"\n".join(b"(" + _escaped(line) + b") Tj T*" for line in lines)
    start = f"BT /F1 {PDF_LETTER_PT} Tf {PDF_LINE_PT} TL {PDF_MARGIN_PT} {height - 24} Td\n"
    content = start.encode() + shown + b"\nET"
    return as_pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PDF_WIDTH_PT} {height}] "
        "/Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    )


def _encode(paper: Image.Image, kind: str, **options: object) -> bytes:
    buffer = BytesIO()
    paper.save(buffer, kind, **options)
    return buffer.getvalue()


def _escaped(line: str) -> bytes:
    for special in "\\()":
        line = line.replace(special, f"\\{special}")
    return line.encode("cp1252")


def as_pdf(*objects: bytes) -> bytes:
    """Write a PDF of these objects, numbered from 1; the first is its catalog."""
    document = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(document))
        document += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    return (
        document
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(document))
    )
