"""The sample receipts: draws `examples/receipts/` and writes down what is printed on each.

Run `python -m dev.samples` after a change here and commit its output. Shops and amounts are
invented. Every total can be proven from what is printed beside it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from PIL import Image

from dev import paper, sales
from dev.paper import Row
from dev.sales import ENGLISH, GERMAN, GERMAN_UMLAUTS, Sale

FOLDER = Path(__file__).parent.parent / "examples" / "receipts"
EXPECTED = FOLDER / "expected.json"

DAMAGED_AFTER_BYTES = 120  # in the middle of a JPEG's tables
FIRST_PAGE_ROWS = 8
FADING_SEED = 7

LAKESIDE = Sale(
    merchant="LAKESIDE GROCERY",
    address="12 Harbour Street, Millport",
    day=date(2024, 3, 14),
    currency="CAD",
    words=ENGLISH,
    tax_percent=Decimal(13),
    items=(
        ("Sourdough Loaf", "6.49"),
        ("Whole Milk 2L", "5.29"),
        ("Apples 1kg", "4.99"),
        ("Cheddar 400g", "8.79"),
    ),
    paid_cash="40.00",
    number="004417",
)
BAKERY = Sale(
    merchant="THE COPPER OVEN",
    address="3 Mill Lane, Ashby",
    day=date(2024, 3, 16),
    currency="GBP",
    words=ENGLISH,
    tax_percent=Decimal(20),
    items=(("Almond Croissant", "3.20"), ("Flat White", "3.60"), ("Cinnamon Bun", "2.95")),
    paid_cash="20.00",
    number="88213",
)
HOFLADEN = Sale(
    merchant="HOFLADEN LINDENAU",
    address="Dorfstrasse 7, 04177 Lindenau",
    day=date(2024, 3, 19),
    currency="EUR",
    words=GERMAN,
    tax_percent=Decimal("7.00"),
    items=(
        ("Kartoffeln 2kg", "4.98"),
        ("Roggenbrot", "3.85"),
        ("Eier 10 Stueck", "3.49"),
        ("Honig 500g", "6.90"),
    ),
    paid_cash="20.00",
    number="1175",
)
KIOSK = Sale(
    merchant="KIOSK AM MARKT",
    address="Marktplatz 2, 79098 Auenheim",
    day=date(2024, 4, 2),
    currency="EUR",
    words=GERMAN,
    tax_percent=Decimal("19.00"),
    items=(("Zeitung", "2.90"), ("Mineralwasser", "1.79"), ("Batterien AA", "5.99")),
    paid_cash="50.00",
    number="20931",
)
GARDEN = Sale(
    merchant="GREENFIELD GARDEN CENTRE",
    address="Orchard Road 45, Wexley",
    day=date(2024, 4, 6),
    currency="USD",
    words=ENGLISH,
    tax_percent=Decimal(8),
    items=(("Tomato Seeds", "3.75"), ("Clay Pot 20cm", "12.40"), ("Potting Soil 20L", "9.95")),
    card_last4="4242",
    number="5520-7",
)
PAPETERIE = Sale(
    merchant="Papeterie Süd",
    address="Schloßallee 9, 70173 Grünwald",
    day=date(2024, 4, 9),
    currency="EUR",
    words=GERMAN_UMLAUTS,
    tax_percent=Decimal("19.00"),
    items=(("Füllhalter", "24.90"), ("Briefumschläge 25 Stück", "4.50"), ("Notizbuch A5", "8.95")),
    paid_cash="50.00",
    number="303-118",
)
PHARMACY = Sale(
    merchant="NIGHT OWL PHARMACY",
    address="210 King Street, Dunmore",
    day=date(2024, 4, 13),
    currency="CAD",
    words=ENGLISH,
    tax_percent=Decimal(5),
    items=(("Cough Syrup", "11.99"), ("Plasters 20", "4.49"), ("Hand Cream", "6.25")),
    paid_cash="30.00",
    number="771902",
)
BOOKS = Sale(
    merchant="BOOK CELLAR",
    address="Old Town Square 1, Fenwick",
    day=date(2024, 4, 20),
    currency="GBP",
    words=ENGLISH,
    tax_percent=Decimal(5),
    items=(("Field Guide to Birds", "14.99"), ("Used Paperback", "3.50"), ("Postcards x4", "2.40")),
    paid_cash="25.00",
    number="6641",
)
HARDWARE = Sale(
    merchant="BOLT & BEAM HARDWARE",
    address="Industrial Park 18, Norwick",
    day=date(2024, 4, 27),
    currency="USD",
    words=ENGLISH,
    tax_percent=Decimal(7),
    items=(
        ("Wood Screws 4x40", "6.49"),
        ("Sandpaper Set", "8.25"),
        ("Paint White 2.5L", "31.90"),
        ("Brush 50mm", "5.75"),
        ("Masking Tape", "3.60"),
        ("Work Gloves", "9.99"),
    ),
    card_last4="1881",
    number="A-90114",
)
CAFE = Sale(
    merchant="STATION CAFE",
    address="Platform 3, Central Station",
    day=date(2024, 5, 3),
    currency="USD",
    words=ENGLISH,
    tax_percent=Decimal(9),
    items=(("Filter Coffee", "3.25"), ("Bagel", "4.10")),
    card_last4="0057",
    number="12",
)
TANKSTELLE = Sale(
    merchant="TANKSTELLE NORDRING",
    address="Nordring 88, 90408 Erlenau",
    day=date(2024, 5, 11),
    currency="EUR",
    words=GERMAN,
    tax_percent=Decimal("19.00"),
    items=(("Super E10 31,20 L", "54.57"), ("Scheibenreiniger", "6.99")),
    card_last4="7303",
    number="448120",
)
STALL = replace(
    BAKERY,
    merchant="FLEA MARKET STALL",
    address="Riverside Meadow",
    items=(("Brass Lamp", "18.00"), ("Old Records x3", "9.00")),
    paid_cash="40.00",
    number="9",
)


@dataclass(frozen=True)
class Sample:
    """One file below `examples/receipts/`."""

    reference: str
    about: str
    sale: Sale
    encode: Callable[[Sequence[Row]], bytes]
    error: str | None = None
    prints_day: bool = True


def _png(rows: Sequence[Row]) -> bytes:
    return paper.as_png(paper.draw(rows))


def _jpeg(rows: Sequence[Row]) -> bytes:
    return paper.as_jpeg(paper.draw(rows))


def _tiff(rows: Sequence[Row]) -> bytes:
    return paper.as_tiff(paper.draw(rows))


def _faint(rows: Sequence[Row]) -> bytes:
    return paper.as_jpeg(paper.fade(paper.draw(rows), seed=FADING_SEED))


def _turned(rows: Sequence[Row]) -> bytes:
    return paper.as_png(paper.draw(rows).transpose(Image.Transpose.ROTATE_90))


def _damaged(rows: Sequence[Row]) -> bytes:
    return _jpeg(rows)[:DAMAGED_AFTER_BYTES]


def _scanned(rows: Sequence[Row]) -> bytes:
    return paper.as_scanned_pdf([paper.draw(rows)])


def _two_pages(rows: Sequence[Row]) -> bytes:
    cut = (rows[:FIRST_PAGE_ROWS], rows[FIRST_PAGE_ROWS:])
    return paper.as_scanned_pdf([paper.draw(page) for page in cut])


SAMPLES = (
    Sample("2024-03/lakeside-grocery.png", "a clear image", LAKESIDE, _png),
    Sample("2024-03/copper-oven.jpg", "a clear photo", BAKERY, _jpeg),
    Sample("2024-03/hofladen-lindenau.png", "German, tax in the price", HOFLADEN, _png),
    Sample("2024-04/kiosk-am-markt.tif", "German, black and white", KIOSK, _tiff),
    Sample("2024-04/greenfield-garden.pdf", "a scan without text", GARDEN, _scanned),
    Sample("2024-04/papeterie-sued.pdf", "a PDF with real text", PAPETERIE, paper.as_text_pdf),
    Sample("2024-04/night-owl-pharmacy.jpg", "faint print", PHARMACY, _faint),
    Sample("2024-04/book-cellar.png", "turned by 90 degrees", BOOKS, _turned),
    Sample("2024-04/bolt-and-beam.pdf", "a scan of two pages", HARDWARE, _two_pages),
    Sample("2024-05/station-cafe.jpg", "paid by card", CAFE, _jpeg),
    Sample("2024-05/tankstelle-nordring.png", "German, paid by card", TANKSTELLE, _png),
    Sample("2024-05/flea-market.png", "no date printed", STALL, _png, prints_day=False),
    Sample("2024-05/damaged-scan.jpg", "cut off while copied", CAFE, _damaged, error="corrupt"),
)


def main() -> None:
    """Write every sample and `expected.json`."""
    for sample in SAMPLES:
        path = FOLDER / sample.reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(render(sample))
    fields = {sample.reference: expected(sample) for sample in SAMPLES}
    EXPECTED.write_text(json.dumps(fields, indent=2, ensure_ascii=False) + "\n", "utf-8")


def render(sample: Sample) -> bytes:
    """Return the bytes of a sample."""
    rows = sales.rows(sample.sale)
    if not sample.prints_day:
        rows = [row for row in rows if not row.text.startswith("Date")]
    return sample.encode(rows)


def expected(sample: Sample) -> dict[str, object]:
    """Return what a perfect reader finds; amounts as decimal strings."""
    if sample.error:
        return {"about": sample.about, "error": sample.error}
    sale = sample.sale
    return {
        "about": sample.about,
        "error": None,
        "merchant_name": sale.merchant,
        "transaction_date": sale.day.isoformat() if sample.prints_day else None,
        "total": str(sale.total),
        "tax": str(sale.tax),
        "currency": sale.currency,
        "card_last4": sale.card_last4 or None,
        "items": [list(item) for item in sale.items],
    }


if __name__ == "__main__":
    main()
