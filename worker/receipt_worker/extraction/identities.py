"""Sums that hold between printed amounts, and prove a total. Pure.

I1 paid - change, I2 parts, I3 items or what was measured out, I4 tax table, I5 card slip, I6
printed twice (weak); the tolerance is a cent, and a rounding to coins only where it is printed.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import combinations, product

from receipt_worker.extraction import labels, measures, taxes
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.labels import Labelled, Row
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.taxes import TaxRow
from receipt_worker.extraction.vocabulary import Vocabulary, has_word

CASH_ROUNDING = Decimal("0.05")  # largest step of coins: paid totals are rounded to it
LEAST_ITEMS = 2  # one item is the total printed again, unless several of it were bought
_NOTHING = Decimal(0)


class Evidence(StrEnum):
    """Why a total is believed; the values are stored."""

    PAID_MINUS_CHANGE = "paid_minus_change"
    PARTS_SUM = "parts_sum"
    ITEMS_SUM = "items_sum"
    MEASURED = "measured"
    TAX_TABLE = "tax_table"
    TAX_SHARE = "tax_share"
    CARD_SLIP = "card_slip"
    PRINTED_TWICE = "printed_twice"

    @property
    def strong(self) -> bool:
        """Whether it proves a total by itself."""
        return self is not Evidence.PRINTED_TWICE


@dataclass(frozen=True)
class Parts:
    """Every sum of tax, tip, discount and coins that may be added to a sum; never nothing."""

    plain: frozenset[Decimal]
    discounted: frozenset[Decimal]  # a payment is none: what a voucher pays was not taken off
    coins: tuple[Decimal, ...]

    def fitting(self, value: Decimal, *, discounted: bool) -> frozenset[Decimal]:
        """Return what may be added to come to this value; coins only to what coins can pay."""
        added = self.plain | self.discounted if discounted else self.plain
        if value % CASH_ROUNDING or not self.coins:
            return added
        joined = {part + coin for part in {*added, _NOTHING} for coin in self.coins}
        return (added | joined) - {_NOTHING}


@dataclass(frozen=True)
class Seen:
    """One reading, as far as identities look at it."""

    rows: Sequence[Row]
    found: Sequence[Labelled]
    items: Sequence[Item]
    table: Sequence[TaxRow]
    parts: Parts
    vocabulary: Vocabulary


def held(source: Labelled, seen: Seen) -> frozenset[Evidence]:
    """Return every identity that holds for one candidate."""
    value = abs(source.value)
    twice = times_printed(value, seen.rows) > 1
    final = source.role is not Role.SUBTOTAL  # what was bought adds up to a sub-total as well
    before = before_coins(source, seen.found)
    evidence = {
        Evidence.PAID_MINUS_CHANGE: value in paid_minus_change(seen.found)
        or _is_paid_in_parts(source, seen.found),
        Evidence.PARTS_SUM: bool(bases(source, seen.found, seen.parts)),
        Evidence.ITEMS_SUM: final and _is_sum_of_items({source.value, *before}, seen.items),
        Evidence.MEASURED: final
        and measures.is_measured(source.value, seen.rows, seen.items, seen.vocabulary),
        Evidence.TAX_TABLE: final
        and any(taxes.matching(seen.table, size) for size in {value, *before})
        and source.line not in [row.line for row in seen.table],
        Evidence.TAX_SHARE: final and twice and taxes.is_share_printed(seen.rows, value),
        Evidence.CARD_SLIP: _is_on_card_slip(value, seen.found, seen.vocabulary),
        Evidence.PRINTED_TWICE: twice,
    }
    return frozenset(item for item, holds in evidence.items() if holds)


def paid_minus_change(found: Sequence[Labelled]) -> frozenset[Decimal]:
    """Return what was given less what came back, for each pair that is printed."""
    paid, change = labels.values(found, Role.PAID), labels.values(found, Role.CHANGE)
    return frozenset(
        given - back for given, back in product(paid, change) if _NOTHING < back < given
    )


def bases(source: Labelled, found: Sequence[Labelled], added: Parts) -> frozenset[Decimal]:
    """Return the sums before it that give it with tax, tip, rounding or less a discount.

    Two sums of classes that give it together count as well, as where taxed and untaxed goods are
    added up apart.
    """
    value = abs(source.value)
    sums = labels.sizes(
        item
        for item in found
        if item.role is Role.SUBTOTAL
        or (item.role is Role.TOTAL and item.position < source.position)
    )
    fitting = added.fitting(value, discounted=source.role is not Role.PAID)
    classes = {
        base
        for pair in combinations(sums, 2)
        if source.role is Role.TOTAL and sum(pair) == value
        for base in pair
    }
    return frozenset(base for base in sums if value - base in fitting) | frozenset(classes)


def parts(found: Sequence[Labelled]) -> Parts:
    """Add up what is printed beside the sums, in every way."""
    adding = (_NOTHING, *labels.values(found, Role.TAX))
    tips = (_NOTHING, *labels.values(found, Role.TIP))
    discounts = labels.values(found, Role.DISCOUNT)
    coins = [coin for coin in labels.values(found, Role.ROUNDING) if 0 < coin <= CASH_ROUNDING]
    plain = {tax + tip for tax, tip in product(adding, tips)}
    return Parts(
        plain=frozenset(plain - {_NOTHING}),
        discounted=frozenset(
            {part - discount for part, discount in product(plain, discounts)} - {_NOTHING}
        ),
        coins=(*coins, *(-coin for coin in coins)),
    )


def before_coins(source: Labelled, found: Sequence[Labelled]) -> frozenset[Decimal]:
    """Return the sums of which this is the rounding to coins, which is what was paid."""
    value = source.value
    if value <= 0 or value % CASH_ROUNDING or not any(item.role is Role.ROUNDING for item in found):
        return frozenset()
    sums = labels.sizes(item for item in found if item.role in {Role.TOTAL, Role.SUBTOTAL})
    return frozenset(base for base in sums if 0 < abs(value - base) < CASH_ROUNDING)


def is_before_coins(value: Decimal, rows: Sequence[Row]) -> bool:
    """Say whether no coins pay this although a rounding is printed: another total was paid."""
    if not value % CASH_ROUNDING:
        return False
    coins = [row.amounts for row in rows if row.role is Role.ROUNDING]
    return bool(coins) and all(amount.value for amounts in coins for amount in amounts)


def times_printed(value: Decimal, rows: Sequence[Row]) -> int:
    """Count how often an amount stands on the receipt."""
    return sum(abs(amount.value) == value for row in rows for amount in row.amounts)


def _is_paid_in_parts(source: Labelled, found: Sequence[Labelled]) -> bool:
    """Say whether two means of payment add up to a total, as a voucher and cash."""
    if source.role is not Role.TOTAL:
        return False
    paid = labels.sizes(item for item in found if item.role is Role.PAID and item.alone)
    return any(sum(pair) == abs(source.value) for pair in combinations(paid, 2))


def _is_sum_of_items(values: AbstractSet[Decimal], items: Sequence[Item]) -> bool:
    several = len(items) >= LEAST_ITEMS
    if len(items) == 1 and items[0].quantity is not None and items[0].unit_price is not None:
        several = items[0].quantity > 1 and (
            items[0].quantity * items[0].unit_price == items[0].total
        )
    return several and sum(item.total for item in items) in values


def _is_on_card_slip(value: Decimal, found: Sequence[Labelled], vocabulary: Vocabulary) -> bool:
    """Say whether the till printed it as total and the card terminal as paid."""
    totals_at = {item.position for item in found if item.role is Role.TOTAL and item.value == value}
    return any(
        item.role is Role.PAID
        and item.value == value
        and totals_at - {item.position}
        and has_word(item.line.text, vocabulary.card_words)
        for item in found
    )
