"""One reading of a receipt: every field that one set of lines gives, with its candidates."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time

from receipt_worker.extraction import card, dates, items, labels, merchant, money, totals
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.labels import Row
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.totals import Totals
from receipt_worker.extraction.vocabulary import Country, DateOrder, Role, Vocabulary, plain

_NUMBER_LABEL = re.compile(
    r"(?:receipt|invoice|bill|inv|rcpt|transaction|trans|order|bon|beleg|rechnung)"
    r"[\s\-]*(?:no|nr|num|number|id|nummer|#)?\s*[.:#]*\s*(?P<number>[A-Z0-9][A-Z0-9\-/]{3,23})",
    re.IGNORECASE,
)
_METHODS = {  # words of a receipt -> how it was paid
    "mastercard": "Mastercard",
    "master card": "Mastercard",
    "visa": "Visa",
    "amex": "Amex",
    "american express": "Amex",
    "girocard": "Debit",
    "maestro": "Debit",
    "ec karte": "Debit",
    "ec cash": "Debit",
    "debit": "Debit",
    "interac": "Debit",
    "cash": "Cash",
    "bar": "Cash",
}


@dataclass(frozen=True)
class Assumptions:
    """What is judged against and not printed."""

    today: date
    oldest_years: int


@dataclass(frozen=True)
class Findings:
    """Everything one reading gives; None and empty mean not found."""

    merchant: MerchantFound | None
    day: DateFound | None
    days: frozenset[date]
    at: time | None
    totals: Totals
    currency: str | None
    country: str | None
    card_last4: str | None
    payment_method: str | None
    receipt_number: str | None
    items: tuple[Item, ...]


def read(lines: Sequence[Line], vocabulary: Vocabulary, assumptions: Assumptions) -> Findings:
    """Read all fields of one set of lines."""
    rows = labels.read_rows(lines, vocabulary)
    country = _country(lines, vocabulary)
    found_items = items.items(rows)
    found_dates = dates.dates(
        lines,
        vocabulary,
        order=country.date_order if country else DateOrder.UNKNOWN,
        today=assumptions.today,
        oldest_years=assumptions.oldest_years,
    )
    day = dates.best(found_dates)
    return Findings(
        merchant=merchant.merchant(lines, vocabulary),
        day=day,
        days=frozenset(item.value for item in found_dates),
        at=_time(lines, day),
        totals=totals.totals(rows, found_items, vocabulary),
        currency=_currency(lines, vocabulary, country),
        country=country.code if country else None,
        card_last4=card.last4(lines, vocabulary),
        payment_method=_payment_method(rows),
        receipt_number=_receipt_number(lines),
        items=found_items,
    )


def _country(lines: Sequence[Line], vocabulary: Vocabulary) -> Country | None:
    """Name the country most words speak for; None when two are even or none speaks."""
    text = f" {plain(' '.join(line.text for line in lines))} "
    counts = Counter(
        {
            country: sum(text.count(f" {word} ") for word in country.words)
            for country in vocabulary.countries
        }
    )
    (first, most), (_, second) = counts.most_common(2)
    return first if most > second else None


def _currency(lines: Sequence[Line], vocabulary: Vocabulary, country: Country | None) -> str | None:
    """Name the currency printed most often; else the country's, whose words derive it."""
    printed = Counter(
        code for line in lines for code in money.currencies(line.text, vocabulary.currencies)
    )
    if printed:
        return printed.most_common(1)[0][0]
    return country.currency if country else None


def _time(lines: Sequence[Line], day: DateFound | None) -> time | None:
    """Return the time beside the date, else the only one on the receipt."""
    if day is not None and (beside := dates.times(day.line.text)):
        return beside[0]
    every = {found for line in lines for found in dates.times(line.text)}
    return every.pop() if len(every) == 1 else None


def _payment_method(rows: Sequence[Row]) -> str | None:
    """How it was paid, from lines that say so with an amount."""
    for row in rows:
        if row.role is not Role.PAID or not row.amounts:
            continue
        text = f" {plain(row.line.text)} "
        for word, method in _METHODS.items():
            if f" {word} " in text:
                return method
    return None


def _receipt_number(lines: Sequence[Line]) -> str | None:
    for line in lines:
        match = _NUMBER_LABEL.search(line.text)
        if match and any(mark.isdigit() for mark in match["number"]):
            return match["number"]
    return None
