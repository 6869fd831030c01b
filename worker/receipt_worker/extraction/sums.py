"""The amounts around a total: sub-total, tax, tip, rounding, discount, change. Pure.

Each is printed, or added up from printed amounts and says so.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal

from receipt_worker.extraction import money
from receipt_worker.extraction.labels import Labelled
from receipt_worker.extraction.lines import Found
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.taxes import TaxRow

PRINTED = "printed"
ADDED_UP = "added_up"
TAX_TABLE = "tax_table"
LARGEST_ROUNDING = Decimal("0.99")  # to whole coins of a currency; more is something else
LARGEST_TAX_SHARE = Decimal("0.3")  # of a total; no country takes more
_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Sums:
    """What was read beside the total; None where nothing is printed."""

    subtotal: Found | None
    tax: Found | None
    tip: Found | None
    rounding: Found | None  # signed: what was added to come to the total
    discount: Found | None
    change: Found | None


def around(total: Decimal | None, found: Sequence[Labelled], table: Sequence[TaxRow]) -> Sums:
    """Find the amounts that go with this total; without one only those that need none."""
    most = abs(total) if total is not None else None
    return Sums(
        subtotal=_first(_below(found, Role.SUBTOTAL, most)) if most is not None else None,
        tax=_tax(most, found, table) if most is not None else None,
        tip=_last(_below(found, Role.TIP, most, least=Decimal("0.01"))),
        rounding=_rounding(most, found),
        discount=_added_up(_below(found, Role.DISCOUNT, None, least=Decimal("0.01"))),
        change=_last(item for item in found if item.role is Role.CHANGE),
    )


def printed(item: Labelled, value: Decimal | None = None) -> Found:
    """Return a labelled amount as a field's value."""
    worth = abs(item.value) if value is None else value
    span = range(item.amount.start, item.amount.end)
    return Found(str(worth), item.amount.raw, item.line, span, (PRINTED,))


def _below(
    found: Sequence[Labelled],
    role: Role,
    most: Decimal | None,
    *,
    least: Decimal = _NOTHING,
) -> list[Labelled]:
    return [
        item
        for item in found
        if item.role is role
        and abs(item.value) >= least
        and (most is None or abs(item.value) <= most)
    ]


def _first(items: Sequence[Labelled]) -> Found | None:
    return printed(items[0]) if items else None


def _last(items: Iterable[Labelled]) -> Found | None:
    every = list(items)
    return printed(every[-1]) if every else None


def _tax(most: Decimal, found: Sequence[Labelled], table: Sequence[TaxRow]) -> Found | None:
    """Add up the table that proves the total, else take the printed tax nearest to it."""
    if table:
        worth = sum((row.tax for row in table), _NOTHING)
        line = table[0].line
        return Found(str(worth), line.text, line, range(len(line.text)), (TAX_TABLE, ADDED_UP))
    taxes = [
        item
        for item in found
        if item.role is Role.TAX and abs(item.value) <= most * LARGEST_TAX_SHARE
    ]
    bases = {abs(item.value) for item in found if item.role is Role.SUBTOTAL}
    fitting = [item for item in taxes if most - abs(item.value) in bases]
    return _last(fitting) or _of_rates(taxes, most, bases) or _last(taxes)


def _of_rates(
    taxes: Sequence[Labelled], most: Decimal, bases: AbstractSet[Decimal]
) -> Found | None:
    """Add up the taxes of several rates where they make the total of a sub-total."""
    rated = [item for item in taxes if item.alone and money.rates(item.line.text)]
    worth = sum((abs(item.value) for item in rated), _NOTHING)
    if len(rated) < 2 or most - worth not in bases:  # noqa: PLR2004 - one rate is no sum
        return None
    first = printed(rated[0], worth)
    return Found(first.value, first.raw, first.line, first.span, (ADDED_UP,))


def _rounding(most: Decimal | None, found: Sequence[Labelled]) -> Found | None:
    """Take the sign from the amounts that it joins, else as printed."""
    coins = [
        item for item in found if item.role is Role.ROUNDING and abs(item.value) <= LARGEST_ROUNDING
    ]
    if not coins:
        return None
    coin = coins[-1]
    size = abs(coin.value)
    bases = {abs(item.value) for item in found if item.role in {Role.TOTAL, Role.SUBTOTAL}}
    if most is not None and most - size in bases and most + size not in bases:
        return printed(coin, size)
    if most is not None and most + size in bases and most - size not in bases:
        return printed(coin, -size)
    return printed(coin, coin.value)


def _added_up(items: Sequence[Labelled]) -> Found | None:
    """Add up distinct lines; a line that is the sum of the others is that sum printed."""
    by_line = {item.position: item for item in items if item.alone}
    if not by_line:
        return None
    every = list(by_line.values())
    worth = sum((abs(item.value) for item in every), _NOTHING)
    largest = max(every, key=lambda item: abs(item.value))
    if len(every) == 1 or abs(largest.value) * 2 == worth:
        return printed(largest)
    first = printed(every[0], worth)
    return Found(first.value, first.raw, first.line, first.span, (ADDED_UP,))
