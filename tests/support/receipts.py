"""Builders of small receipts: each one different, each read by Tesseract in a blink."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from dev import paper, sales
from dev.sales import ENGLISH, Sale

WIDTH_PX = 420
FIRST_DAY = date(2024, 1, 1)
DAYS = 360


@dataclass(frozen=True)
class SmallReceipt:
    """A file's bytes, and what is printed on it."""

    content: bytes
    merchant: str
    day: date
    total: Decimal


def small_receipt(number: int = 1) -> SmallReceipt:
    """Draw receipt `number`: another number gives other bytes, the same one the same."""
    sale = _sale(number)
    content = paper.as_png(paper.draw(sales.rows(sale), width=WIDTH_PX))
    return SmallReceipt(content, sale.merchant, sale.day, sale.total)


def _sale(number: int) -> Sale:
    return Sale(
        merchant="CORNER SHOP",
        address=f"{number} Market Street",
        day=FIRST_DAY + timedelta(days=number % DAYS),
        currency="USD",
        words=ENGLISH,
        tax_percent=Decimal(10),
        items=(("Tea", f"{2 + number % 50}.50"),),
        number=f"{number:06}",
        paid_cash="100.00",
    )


def write_small_receipts(root: Path, *references: str, first: int = 1) -> None:
    """Write a different small receipt at each reference below `root`, in the order given."""
    for number, reference in enumerate(references, start=first):
        path = root / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(small_receipt(number).content)


def write_copies(root: Path, *references: str) -> None:
    """Write one small receipt at each reference; bytes behind the image make each another source.

    A hundred times as fast as drawing each.
    """
    image = small_receipt().content
    for reference in references:
        path = root / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(image + reference.encode())


def long_receipt(number: int, *, pages: int) -> bytes:
    """Draw a scan of so many pages: each takes Tesseract a second or more."""
    goods = tuple((f"Tea of sort {number * 1000 + row}", f"{row}.50") for row in range(1, 41))
    sale = replace(_sale(number), items=goods)
    return paper.as_scanned_pdf([paper.draw(sales.rows(sale))] * pages)
