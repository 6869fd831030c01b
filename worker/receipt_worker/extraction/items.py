"""The lines a customer paid for: what stands with an amount above the first total."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from receipt_worker.extraction.labels import Row
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.names import letters
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.vocabulary import Vocabulary, plain, role_of

LEAST_LETTERS = 2
_ENDS_ITEMS = {Role.TOTAL, Role.SUBTOTAL, Role.PAID}
_NOT_ITEMS = {Role.TAX, Role.CHANGE, Role.ROUNDING, Role.NONE}
_CENT = Decimal("0.01")
_QUANTITY = re.compile(
    r"^\W{0,2}(?P<count>\d{1,3}(?:[.,]\d{1,3})?)\s*"
    r"(?:(?P<unit>[^\W\d_]{1,6})\s*)?(?:x|\*|@|\u00d7)(?!\w)\s*",
    re.IGNORECASE,
)
_COUNT_BEHIND = re.compile(
    r"(?<=\w)\s+\d{1,3}(?:[.,]\d{1,3})?\s*(?:[^\W\d_]{1,3}\s*)?(?:x|\*|@|\u00d7)\s*$", re.IGNORECASE
)
_COUNTED = re.compile(r"^\W{0,2}(?P<count>\d{1,3})\s*(?P<unit>[^\W\d_]{1,6})(?!\w)", re.IGNORECASE)
_CODE = re.compile(r"^\W*(?P<code>\d{3,14})(?!\d|[.,]\d)\W*\s*")
_TAX_CODE = re.compile(r"(?<=\d)[\s*]+(?P<code>[A-Z]{1,2}|\d)$")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_BETWEEN = re.compile(r"(?<![\d.,])(?P<count>\d{1,3}(?:[.,]\d{3})?)(?![\d.,])")


@dataclass(frozen=True)
class Item:
    """One line paid for; quantity, price of one and the rest only where printed."""

    description: str
    quantity: Decimal | None
    unit_price: Decimal | None
    total: Decimal
    line: Line
    quantity_unit: str | None = None
    product_code: str | None = None
    tax_code: str | None = None


def items(rows: Sequence[Row], vocabulary: Vocabulary) -> tuple[Item, ...]:
    """Items in the order of print; a name above its amount's line is taken along."""
    found: list[Item] = []
    name_above = ""
    for row in rows[: _end(rows)]:
        if row.role in _NOT_ITEMS or _is_sum_of_discounts(row, vocabulary):
            name_above = ""
            continue
        if not row.amounts:
            name_above = row.line.text
            continue
        if found and _is_detail(row, found[-1]):
            found[-1] = _detailed(found[-1], row)
            continue
        name = _description(row, above=name_above)
        if name:
            found.append(_item(row, name, above=name_above, vocabulary=vocabulary))
        name_above = ""
    return tuple(_without_details_above(found))


def _end(rows: Sequence[Row]) -> int:
    """Place of the first sum with an amount below something bought; 0 when there is none.

    Heads of columns and words like cash further up have no amount, or nothing above them.
    """
    bought = False
    for row in rows:
        if row.role in _ENDS_ITEMS and (row.amounts or row.role is not Role.TOTAL) and bought:
            return row.position
        bought = bought or (bool(row.amounts) and row.role not in {*_NOT_ITEMS, *_ENDS_ITEMS})
    return 0


def _is_sum_of_discounts(row: Row, vocabulary: Vocabulary) -> bool:
    """Say whether discounts are added up here: the label of a total with another word."""
    words = plain(row.line.text).split()
    return (
        row.role is Role.DISCOUNT and bool(words) and (role_of(words[0], vocabulary) is Role.TOTAL)
    )


def _is_detail(row: Row, item: Item) -> bool:
    """Say whether a line only tells how many of the item above were bought at which price."""
    counted = _QUANTITY.match(row.line.text)
    if counted is None or letters(_name(row)) > len("RM"):
        return False
    return _fits(_number(counted["count"]), row.amounts[0].value, item.total)


def _detailed(item: Item, row: Row) -> Item:
    counted = _QUANTITY.match(row.line.text)
    if counted is None:
        return item
    return replace(item, quantity=_number(counted["count"]), unit_price=row.amounts[0].value)


def _without_details_above(found: Sequence[Item]) -> Iterator[Item]:
    """Join a line that tells only count and price to the item below that it belongs to."""
    for place, item in enumerate(found):
        below = found[place + 1] if place + 1 < len(found) else None
        counted = _QUANTITY.match(item.line.text)
        if (
            below is not None
            and counted is not None
            and item.unit_price is None
            and letters(item.description) <= len("RM")
            and _fits(_number(counted["count"]), item.total, below.total)
        ):
            continue
        yield item


def _item(row: Row, name: str, *, above: str, vocabulary: Vocabulary) -> Item:
    text, last = row.line.text, row.amounts[-1]
    total = -abs(last.value) if row.role is Role.DISCOUNT else last.value
    unit_price = row.amounts[-2].value if len(row.amounts) > 1 else None
    quantity, unit = _quantity(row, unit_price, vocabulary)
    code = _CODE.match(text) or _CODE.match(above)
    tax_code = _TAX_CODE.search(text[last.start :])
    return Item(
        description=name,
        quantity=quantity,
        unit_price=unit_price if quantity is not None else None,
        total=total,
        line=row.line,
        quantity_unit=unit,
        product_code=code["code"] if code else None,
        tax_code=tax_code["code"] if tax_code else None,
    )


def _quantity(
    row: Row, unit_price: Decimal | None, vocabulary: Vocabulary
) -> tuple[Decimal | None, str | None]:
    """Read how many: before a sign of multiplication, else the number that fits both amounts."""
    text, total = row.line.text, row.amounts[-1].value
    counted = _QUANTITY.match(text)
    if counted:
        unit = counted["unit"]
        return _number(counted["count"]), unit if _is_unit(unit, vocabulary) else None
    counted = _COUNTED.match(text)
    if counted and _is_unit(counted["unit"], vocabulary):
        return Decimal(counted["count"]), counted["unit"]
    if unit_price is None:
        return None, None
    for match in _BETWEEN.finditer(text):
        if _fits(_number(match["count"]), unit_price, total):
            return _number(match["count"]), None
    return None, None


def _fits(count: Decimal, price: Decimal, total: Decimal) -> bool:
    return count > 0 and abs(count * price - total) < _CENT


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", "."))


def _is_unit(word: str | None, vocabulary: Vocabulary) -> bool:
    return word is not None and plain(word) in vocabulary.units


def _description(row: Row, *, above: str) -> str:
    """Words before the amount, else the line above, else a code: a nameless item still counts."""
    own, other = _name(row), _tidy(above)
    for name in (own, other):
        if letters(name) >= LEAST_LETTERS:
            return name
    return own or row.line.text[: row.amounts[0].start].strip()


def _name(row: Row) -> str:
    """Return the words in front of the amounts, or between them where only a count stands there."""
    text, first, last = row.line.text, row.amounts[0], row.amounts[-1]
    name = _tidy(text[: first.start])
    if letters(name) >= LEAST_LETTERS or first is last:
        return name
    between = _tidy(text[first.end : last.start])
    return between if _QUANTITY.match(text) and letters(between) > LEAST_LETTERS else name


def _tidy(text: str) -> str:
    text = _COUNT_BEHIND.sub(" ", _QUANTITY.sub(" ", _CODE.sub("", text)))
    return _EDGES.sub("", " ".join(text.split()))
