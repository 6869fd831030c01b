"""Sales: what a shop prints on a receipt, with amounts that follow from the items."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from dev.paper import Row

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Words:
    """How a shop prints; the tax is added to the prices or already in them."""

    subtotal: str
    tax: str
    total: str
    cash: str
    change: str
    day: str  # as strftime wants it
    decimal_mark: str
    tax_added: bool


ENGLISH = Words("Subtotal", "Tax", "TOTAL", "Cash", "Change", "%d %b %Y", ".", tax_added=True)
GERMAN = Words(
    "Zwischensumme", "MwSt", "SUMME", "Bar", "Rueckgeld", "%d.%m.%Y", ",", tax_added=False
)
GERMAN_UMLAUTS = replace(GERMAN, change="Rückgeld")


@dataclass(frozen=True)
class Sale:
    """What was sold; all amounts on the paper follow from it."""

    merchant: str
    address: str
    day: date
    currency: str
    words: Words
    tax_percent: Decimal
    items: tuple[tuple[str, str], ...]
    number: str
    paid_cash: str = ""  # else by card
    card_last4: str = ""

    @property
    def items_total(self) -> Decimal:
        """Sum of the item lines."""
        return sum((Decimal(price) for _, price in self.items), Decimal(0))

    @property
    def tax(self) -> Decimal:
        """Tax added, or contained."""
        share = self.tax_percent / 100
        base = self.items_total if self.words.tax_added else self.items_total / (1 + share)
        return (base * share).quantize(CENT, ROUND_HALF_UP)

    @property
    def total(self) -> Decimal:
        """What the customer paid."""
        return self.items_total + (self.tax if self.words.tax_added else 0)


def rows(sale: Sale) -> list[Row]:
    """Print a sale: head, items, totals, payment."""
    return [*_head(sale), Row(""), *_items(sale), Row(""), *_totals(sale), *_payment(sale)]


def _head(sale: Sale) -> list[Row]:
    day = sale.day.strftime(sale.words.day)
    label = "Date" if sale.words is ENGLISH else "Datum"
    number = "Receipt No" if sale.words is ENGLISH else "Bon-Nr"
    return [
        Row(sale.merchant),
        Row(sale.address),
        Row(f"{label}: {day}"),
        Row(f"{number}: {sale.number}"),
    ]


def _items(sale: Sale) -> list[Row]:
    return [Row(name, _money(sale, Decimal(price))) for name, price in sale.items]


def _totals(sale: Sale) -> list[Row]:
    words = sale.words
    total = Row(f"{words.total} {sale.currency}", _money(sale, sale.total))
    percent = f"{sale.tax_percent}%".replace(".", words.decimal_mark)
    tax = Row(f"{words.tax} {percent}", _money(sale, sale.tax))
    if words.tax_added:
        return [Row(words.subtotal, _money(sale, sale.items_total)), tax, total]
    net = Row("Netto", _money(sale, sale.total - sale.tax))
    return [total, net, tax]


def _payment(sale: Sale) -> list[Row]:
    if not sale.paid_cash:
        return [Row(f"VISA XXXX XXXX XXXX {sale.card_last4}", _money(sale, sale.total))]
    paid = Decimal(sale.paid_cash)
    return [
        Row(sale.words.cash, _money(sale, paid)),
        Row(sale.words.change, _money(sale, paid - sale.total)),
    ]


def _money(sale: Sale, amount: Decimal) -> str:
    return str(amount.quantize(CENT)).replace(".", sale.words.decimal_mark)
