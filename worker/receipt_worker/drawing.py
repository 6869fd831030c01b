"""A picture of what was read: every line, and each field where its value is printed."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

from receipt_worker.document import Reading
from receipt_worker.extraction.lines import Box

LINE_COLOUR = "#9ec5fe"
FIELD_COLOURS = ("#d63384", "#198754", "#fd7e14", "#6f42c1", "#0dcaf0", "#dc3545", "#0d6efd")
MARGIN = 3  # pixels between a box and what it is around
LETTERS_SHARE = 50  # of the page's width, for the height of our own letters
LEAST_LETTERS = 12


def draw(reading: Reading, pictures: Sequence[Image.Image | None]) -> bytes:
    """Return a PNG of all pages below each other; pages that have no picture are left white."""
    pages = [_page(reading, number, picture) for number, picture in enumerate(pictures, start=1)]
    whole = Image.new(
        "RGB", (max(page.width for page in pages), sum(page.height for page in pages)), "white"
    )
    top = 0
    for page in pages:
        whole.paste(page, (0, top))
        top += page.height
    stream = io.BytesIO()
    whole.save(stream, "PNG")
    return stream.getvalue()


def _page(reading: Reading, number: int, picture: Image.Image | None) -> Image.Image:
    boxes = [
        line.box for page in reading.pages if page.page_number == number for line in page.lines
    ]
    page = picture.convert("RGB") if picture is not None else _blank(boxes)
    pen = ImageDraw.Draw(page)
    size = max(LEAST_LETTERS, page.width // LETTERS_SHARE)
    for box in boxes:
        pen.rectangle(_around(box), outline=LINE_COLOUR)
    for place, (name, field) in enumerate(reading.extraction.fields.items()):
        if field.box is not None and field.page == number:
            colour = FIELD_COLOURS[place % len(FIELD_COLOURS)]
            pen.rectangle(_around(field.box), outline=colour, width=2)
            corner = (field.box.x, max(0, field.box.y - size - MARGIN))
            pen.text(corner, f"{name} {field.value}", fill=colour, font_size=size)
    return page


def _blank(boxes: Sequence[Box]) -> Image.Image:
    """Paper for a page that was given, not read: as large as what stands on it."""
    right = max((box.right for box in boxes), default=1)
    bottom = max((box.bottom for box in boxes), default=1)
    return Image.new("RGB", (right + MARGIN, bottom + MARGIN), "white")


def _around(box: Box) -> tuple[int, int, int, int]:
    return box.x - MARGIN, box.y - MARGIN, box.right + MARGIN, box.bottom + MARGIN
