"""The lines a customer paid for: what stands with an amount above the first total."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from receipt_worker.extraction.labels import Row
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Role

LEAST_LETTERS = 2
_ENDS_ITEMS = {Role.TOTAL, Role.SUBTOTAL, Role.PAID}
_NOT_ITEMS = {Role.TAX, Role.CHANGE, Role.ROUNDING, Role.NONE}
_QUANTITY = re.compile(
    r"^(?P<count>\d{1,3}(?:[.,]\d{1,3})?)\s*(?:x|\*|@|stk|pcs)(?!\w)\s*", re.IGNORECASE
)
_CODE = re.compile(r"^\W*\d{3,14}\W*\s+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True)
class Item:
    """One line paid for; quantity and unit price only where printed."""

    description: str
    quantity: Decimal | None
    unit_price: Decimal | None
    total: Decimal
    line: Line


def items(rows: Sequence[Row]) -> tuple[Item, ...]:
    """Items in the order of print; a name above its amount's line is taken along."""
    found: list[Item] = []
    name_above = ""
    for row in rows[: _end(rows)]:
        if row.role in _NOT_ITEMS:
            name_above = ""
            continue
        if not row.amounts:
            name_above = row.line.text
            continue
        name = _description(row, above=name_above)
        if name:
            found.append(_item(row, name))
        name_above = ""
    return tuple(found)


def _end(rows: Sequence[Row]) -> int:
    """Place of the first total with an amount on its line, behind which no item stands."""
    for row in rows:
        if row.role in _ENDS_ITEMS and (row.amounts or row.role is not Role.TOTAL):
            return row.position
    return 0  # without a total nobody knows where the items end


def _item(row: Row, name: str) -> Item:
    last = row.amounts[-1]
    quantity = _QUANTITY.search(row.line.text)
    count = Decimal(quantity["count"].replace(",", ".")) if quantity else None
    unit = row.amounts[-2].value if len(row.amounts) > 1 else None
    return Item(name, count, unit, last.value, row.line)


def _description(row: Row, *, above: str) -> str:
    """Words before the amount, else the line above, else a code: a nameless item still counts."""
    own, other = _name(row), _tidy(above)
    for name in (own, other):
        if _letters(name) >= LEAST_LETTERS:
            return name
    return own or row.line.text[: row.amounts[0].start].strip()


def _name(row: Row) -> str:
    return _tidy(row.line.text[: row.amounts[-1].start])


def _tidy(text: str) -> str:
    text = _QUANTITY.sub(" ", _CODE.sub("", text))
    return _EDGES.sub("", " ".join(text.split()))


def _letters(text: str) -> int:
    return sum(mark.isalpha() for mark in text)
