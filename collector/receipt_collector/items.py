"""Items of an expense: made of a receipt's, with the categories that people gave. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from typing import NamedTuple

from receipt_collector import amounts
from receipt_contract.fields import Item
from receipt_contract.results import Item as MainItem

ALIKE = 0.6  # of 1: below it two names are two things


class ItemRow(NamedTuple):
    """One line of an expense and the category it was given."""

    name: str
    line_total: Decimal | None
    budget_category: str | None = None
    category_source: str | None = None
    category_confidence: Decimal | None = None
    unit_qty: Decimal = Decimal(1)
    unit_cost: Decimal | None = None
    weight_qty: Decimal | None = None
    weight_unit: str | None = None
    tax_code: str | None = None


def of_main_fields(items: Sequence[MainItem]) -> list[ItemRow]:
    """Make rows of what schema 1 tells: without quantities, one of each."""
    totals = [amounts.exact(item.line_total) for item in items]
    return [
        ItemRow(item.item_name, total, unit_cost=total)
        for item, total in zip(items, totals, strict=True)
    ]


def of_every_field(items: Sequence[Item]) -> list[ItemRow]:
    """Make rows of what schema 2 tells; a quantity with a unit is measured, not counted."""
    return [
        ItemRow(
            item.description,
            item.total_price,
            unit_qty=item.quantity if item.quantity and not item.quantity_unit else Decimal(1),
            unit_cost=item.price if item.quantity else item.price or item.total_price,
            weight_qty=item.quantity if item.quantity_unit else None,
            weight_unit=item.quantity_unit,
            tax_code=item.tax_code,
        )
        for item in items
    ]


def carry_categories(old: Sequence[ItemRow], new: Sequence[ItemRow]) -> list[ItemRow]:
    """Give each new item the category of the old one that it is; each old one is used once.

    Surest first: the same name and amount, the same name, the same amount under a name alike.
    """
    left = [row for row in old if row.budget_category is not None]
    carried = list(new)
    open_places = list(range(len(carried)))
    for is_same in (_same_line, _same_name, _alike):
        for place in open_places[:]:
            found = next((row for row in left if is_same(row, carried[place])), None)
            if found is not None:
                carried[place] = _with_category(carried[place], found)
                left.remove(found)
                open_places.remove(place)
    return carried


def _with_category(item: ItemRow, source: ItemRow) -> ItemRow:
    return item._replace(
        budget_category=source.budget_category,
        category_source=source.category_source,
        category_confidence=source.category_confidence,
    )


def _same_line(one: ItemRow, other: ItemRow) -> bool:
    return _same_name(one, other) and one.line_total == other.line_total


def _same_name(one: ItemRow, other: ItemRow) -> bool:
    return _key(one.name) == _key(other.name)


def _alike(one: ItemRow, other: ItemRow) -> bool:
    if one.line_total is None or one.line_total != other.line_total:
        return False
    return SequenceMatcher(None, _key(one.name), _key(other.name)).ratio() >= ALIKE


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
