"""One reading of a receipt: every field that one set of lines gives, with its candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from receipt_worker.extraction import (
    contacts,
    currency,
    dates,
    items,
    labels,
    last_digits,
    merchant,
    money,
    payments,
    references,
    sums,
    totals,
    traces,
)
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.payments import Payment
from receipt_worker.extraction.totals import Totals
from receipt_worker.extraction.traces import Trace
from receipt_worker.extraction.vocabulary import Vocabulary, spoken


@dataclass(frozen=True)
class Assumptions:
    """What is judged against and not printed."""

    today: date
    oldest_years: int


@dataclass(frozen=True)
class Findings:
    """Everything one reading gives; None and empty mean not found.

    `others` has the fields that nothing is judged by, under their names.
    """

    merchant: MerchantFound | None
    day: DateFound | None
    days: tuple[DateFound, ...]
    traces: tuple[Trace, ...]  # of dates that could not be read whole
    totals: Totals
    items: tuple[Item, ...]
    payments: tuple[Payment, ...]
    card_last4: str | None
    others: Mapping[str, Found] = field(default_factory=dict)

    @property
    def currency(self) -> str | None:
        """ISO code."""
        return self._value("currency")

    @property
    def country(self) -> str | None:
        """ISO code."""
        return self._value("country_region")

    def amount(self, name: str) -> Decimal | None:
        """Return one of the other amounts."""
        value = self._value(name)
        return None if value is None else Decimal(value)

    def _value(self, name: str) -> str | None:
        found = self.others.get(name)
        return found.value if found else None


def read(lines: Sequence[Line], vocabulary: Vocabulary, assumptions: Assumptions) -> Findings:
    """Read all fields of one set of lines."""
    words = spoken(vocabulary, [line.text for line in lines])
    where = currency.country(lines, words) if lines else None
    money_of = currency.currency(lines, words, where)
    rows = _rows(lines, words, money_of)
    found_items = items.items(rows, words)
    found_totals = totals.totals(rows, found_items, words)
    labelled = labels.labelled(rows)
    best = found_totals.best
    around = sums.around(best.value if best else None, labelled, found_totals.tax_rows)
    found_dates = dates.dates(
        lines,
        words,
        order=currency.date_order(money_of, where[0] if where else None, words),
        today=assumptions.today,
        oldest_years=assumptions.oldest_years,
    )
    day = dates.best(found_dates)
    name = merchant.merchant(lines, words)
    others = {
        "currency": money_of,
        "country_region": where[1] if where else None,
        "merchant_address": contacts.address(lines, name.line if name else None, words),
        "merchant_phone_number": contacts.phone(lines, words),
        "merchant_tax_id": contacts.tax_id(lines, words),
        "transaction_time": dates.time_of(lines, day),
        "receipt_number": references.receipt_number(lines, words),
        "receipt_type": references.receipt_type(lines, words),
        "subtotal": around.subtotal,
        "total_tax": around.tax,
        "tip": around.tip,
        "rounding": around.rounding,
        "discount_total": around.discount,
        "change": around.change,
    }
    return Findings(
        merchant=name,
        day=day,
        days=found_dates,
        traces=traces.traces(lines, found_dates, words),
        totals=found_totals,
        items=found_items,
        payments=payments.payments(rows, labelled, words),
        card_last4=last_digits.last4(lines, words),
        others={key: found for key, found in others.items() if found is not None},
    )


def _rows(
    lines: Sequence[Line], words: Vocabulary, money_of: Found | None
) -> tuple[labels.Row, ...]:
    """Read the amounts as their currency prints them, or whole ones where no decimals stand."""
    if currency.is_whole(money_of.value if money_of else None, words):
        return labels.read_rows(lines, words, find=money.whole_amounts)
    rows = labels.read_rows(lines, words)
    if any(row.amounts for row in rows):
        return rows
    signs = currency.every_sign(words)
    return labels.read_rows(
        lines, words, find=lambda text: money.whole_amounts_after_signs(text, signs)
    )
