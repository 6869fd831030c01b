"""What was measured out, as fuel is: quantity times price of a unit proves what was paid.

Pumps round both numbers, so the product is as near as their digits allow. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from receipt_worker.extraction.items import Item
from receipt_worker.extraction.labels import Row
from receipt_worker.extraction.vocabulary import Vocabulary, plain

LEAST_PAID = Decimal(2)  # the product of small numbers fits too much
HALF = Decimal("0.5")
HALF_CENT = Decimal("0.005")

_NUMBER = r"(?<![\d.,])(?P<number>\d{1,4}[.,]\s?\d{2,4})(?!\d|[.,]\d)"
_UNIT = r"(?P<unit>[^\W\d_]{1,8})(?![^\W\d_])"
_BEFORE_UNIT = re.compile(rf"{_NUMBER}\s?{_UNIT}")
_BEHIND_UNIT = re.compile(rf"(?<![^\W\d_/]){_UNIT}\W{{0,4}}{_NUMBER}")
_PER_UNIT = re.compile(rf"(?:/|\bper)\s?{_UNIT}", re.IGNORECASE)
_ANY = re.compile(_NUMBER)
_LEAST_PRICE_DIGITS = 3  # behind the point, where no unit says that a number is a price


def is_measured(
    value: Decimal, rows: Sequence[Row], items: Sequence[Item], vocabulary: Vocabulary
) -> bool:
    """Say whether a quantity times a price is this amount, and nothing else was bought."""
    if value < LEAST_PAID:
        return False
    quantities, prices = set(_quantities(rows, vocabulary)), set(_prices(rows, vocabulary))
    bought = {item.total for item in items} - {value}
    return bought <= quantities | prices and any(
        _is_product(value, quantity, price) for quantity in quantities for price in prices
    )


def _is_product(value: Decimal, quantity: Decimal, price: Decimal) -> bool:
    rounded = HALF * (_step(quantity) * price + _step(price) * quantity) + HALF_CENT
    return abs(quantity * price - value) <= rounded


def _quantities(rows: Sequence[Row], vocabulary: Vocabulary) -> Iterator[Decimal]:
    """Find numbers beside a unit that are no price of one."""
    for row in rows:
        text = _PER_UNIT.sub(" ", row.line.text)
        for pattern in (_BEFORE_UNIT, _BEHIND_UNIT):
            for match in pattern.finditer(text):
                if plain(match["unit"]) in vocabulary.units:
                    yield _decimal(match["number"])


def _prices(rows: Sequence[Row], vocabulary: Vocabulary) -> Iterator[Decimal]:
    for row in rows:
        per_unit = _per_unit(row.line.text, vocabulary)
        for match in _ANY.finditer(row.line.text):
            price = _decimal(match["number"])
            if per_unit or -int(price.as_tuple().exponent) >= _LEAST_PRICE_DIGITS:
                yield price


def _per_unit(text: str, vocabulary: Vocabulary) -> bool:
    return any(plain(match["unit"]) in vocabulary.units for match in _PER_UNIT.finditer(text))


def _step(number: Decimal) -> Decimal:
    """Return the worth of the last printed digit."""
    return Decimal(1).scaleb(int(number.as_tuple().exponent))


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(" ", "").replace(",", "."))
