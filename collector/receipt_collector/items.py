"""Items of an expense; categories that people gave outlive a new reading. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from typing import NamedTuple

ALIKE = 0.6  # of 1: below it two names are two things


class ItemRow(NamedTuple):
    """One line of an expense and the category it was given."""

    name: str
    line_total: Decimal | None
    budget_category: str | None = None
    category_source: str | None = None
    category_confidence: Decimal | None = None


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
