"""The total, and what proves it.

A candidate is a printed amount. Identities between printed amounts prove it; agreement of passes
alone never does, because an engine repeats its mistakes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import product

from receipt_worker.extraction import labels, taxes
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.labels import Labelled, Row
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.taxes import TaxRow
from receipt_worker.extraction.vocabulary import Vocabulary, has_word

CASH_ROUNDING = Decimal("0.05")  # largest step of coins: paid totals are rounded to it
ROUNDED_WEIGHT = 150  # more than one identity: those of the unrounded total hold as well
MOST_SOURCES = 40  # a receipt has ten; a long document must not take for ever
LEAST_ITEMS = 2  # one item is the total printed again
_NOTHING = Decimal(0)


class Evidence(StrEnum):
    """Why a total is believed; the values are stored."""

    PAID_MINUS_CHANGE = "paid_minus_change"
    PARTS_SUM = "parts_sum"
    ITEMS_SUM = "items_sum"
    TAX_TABLE = "tax_table"
    TAX_SHARE = "tax_share"
    CARD_SLIP = "card_slip"
    PRINTED_TWICE = "printed_twice"

    @property
    def strong(self) -> bool:
        """Whether it proves a total by itself."""
        return self is not Evidence.PRINTED_TWICE


@dataclass(frozen=True)
class TotalFound:
    """One candidate with all that speaks for it."""

    value: Decimal
    source: Labelled
    evidence: frozenset[Evidence]
    weight: int

    @property
    def proven(self) -> bool:
        """Whether an identity holds."""
        return any(item.strong for item in self.evidence)


@dataclass(frozen=True)
class Totals:
    """All candidates, best first; `contradicted` when an identity with all its parts fails."""

    candidates: tuple[TotalFound, ...]
    contradicted: bool
    tax_rows: tuple[TaxRow, ...]

    @property
    def best(self) -> TotalFound | None:
        """The best candidate."""
        return self.candidates[0] if self.candidates else None


@dataclass(frozen=True)
class _Seen:
    """One reading, as far as totals look at it."""

    rows: Sequence[Row]
    found: Sequence[Labelled]
    items: Sequence[Item]
    table: Sequence[TaxRow]
    vocabulary: Vocabulary


def totals(rows: Sequence[Row], items: Sequence[Item], vocabulary: Vocabulary) -> Totals:
    """Weigh every candidate of one reading."""
    found = labels.labelled(rows)
    table = taxes.tax_rows(rows)
    seen = _Seen(rows, found, items, table, vocabulary)
    judged = (_judged(source, seen) for source in _sources(found))
    best_first = sorted(judged, key=lambda total: -total.weight)
    unique = {total.value: total for total in reversed(best_first)}
    candidates = tuple(sorted(unique.values(), key=lambda total: -total.weight))
    best = candidates[0] if candidates else None
    chosen = taxes.matching(table, abs(best.value)) if best else ()
    return Totals(
        candidates=candidates,
        contradicted=best is not None and _contradicted(best, found, table),
        tax_rows=chosen,
    )


def _sources(found: Sequence[Labelled]) -> tuple[Labelled, ...]:
    """Return the amounts that may be the total; of a long document the last ones."""
    roles = {Role.TOTAL, Role.PAID, Role.SUBTOTAL}
    return tuple(item for item in found if item.role in roles)[-MOST_SOURCES:]


def _judged(source: Labelled, seen: _Seen) -> TotalFound:
    rows, found, items = seen.rows, seen.found, seen.items
    value = abs(source.value)
    evidence = {
        Evidence.PAID_MINUS_CHANGE: value in set(_paid_minus_change(found)),
        Evidence.PARTS_SUM: _is_sum_of_parts(source, found),
        Evidence.ITEMS_SUM: (
            len(items) >= LEAST_ITEMS and sum(item.total for item in items) == source.value
        ),
        Evidence.TAX_TABLE: (
            bool(taxes.matching(seen.table, value))
            and source.line not in [row.line for row in seen.table]
        ),
        Evidence.TAX_SHARE: (
            _times_printed(value, rows) > 1 and taxes.is_share_printed(rows, value)
        ),
        Evidence.CARD_SLIP: _on_card_slip(value, found, seen.vocabulary),
        Evidence.PRINTED_TWICE: _times_printed(value, rows) > 1,
    }
    held = frozenset(item for item, holds in evidence.items() if holds)
    weight = _weight(source, held, rows) + (ROUNDED_WEIGHT if _is_rounded(source, found) else 0)
    return TotalFound(source.value, source, held, weight)


def _weight(source: Labelled, held: frozenset[Evidence], rows: Sequence[Row]) -> int:
    """Order of candidates: proof, then label, then how often and how far down it is printed."""
    strong = sum(item.strong for item in held)
    label = {Role.TOTAL: 4, Role.PAID: 1, Role.SUBTOTAL: 0}[source.role]
    if source.role is Role.TOTAL and not source.alone:
        label = 1
    printed = min(_times_printed(abs(source.value), rows), 3)
    place = 10 * source.position // max(1, len(rows))
    zero = -1000 if source.value == 0 else 0
    return 100 * min(strong, 2) + 30 * label + 10 * printed + place + zero


def _paid_minus_change(found: Sequence[Labelled]) -> Iterator[Decimal]:
    paid, change = labels.values(found, Role.PAID), labels.values(found, Role.CHANGE)
    yield from (given - back for given, back in product(paid, change) if _NOTHING < back < given)


def _is_sum_of_parts(source: Labelled, found: Sequence[Labelled]) -> bool:
    """Say whether base + tax + tip + rounding - discount gives it, with a part that counts."""
    bases = labels.sizes(
        item
        for item in found
        if item.role is Role.SUBTOTAL
        or (item.role is Role.TOTAL and item.position < source.position)
    )
    adding = (_NOTHING, *labels.values(found, Role.TAX))
    tips = (_NOTHING, *labels.values(found, Role.TIP))
    discounts = (_NOTHING, *labels.values(found, Role.DISCOUNT))
    coins = [coin for coin in labels.values(found, Role.ROUNDING) if coin <= CASH_ROUNDING]
    roundings = (_NOTHING, *coins, *(-coin for coin in coins))
    value = abs(source.value)
    return any(
        base + tax + tip - discount + coin == value
        for base, tax, tip, discount, coin in product(bases, adding, tips, discounts, roundings)
        if (tax or tip or discount or coin) and (not coin or value % CASH_ROUNDING == 0)
    )


def _is_rounded(source: Labelled, found: Sequence[Labelled]) -> bool:
    """Say whether this is another total after the rounding to coins, which is what was paid."""
    value = abs(source.value)
    coins = {coin for coin in labels.values(found, Role.ROUNDING) if 0 < coin < CASH_ROUNDING}
    bases = labels.sizes(item for item in found if item.role in {Role.TOTAL, Role.SUBTOTAL})
    return value % CASH_ROUNDING == 0 and any(abs(value - base) in coins for base in bases)


def _on_card_slip(value: Decimal, found: Sequence[Labelled], vocabulary: Vocabulary) -> bool:
    """Say whether the till printed it as total and the card terminal as paid."""
    totals_at = {item.position for item in found if item.role is Role.TOTAL and item.value == value}
    return any(
        item.role is Role.PAID
        and item.value == value
        and totals_at - {item.position}
        and has_word(item.line.text, vocabulary.card_words)
        for item in found
    )


def _times_printed(value: Decimal, rows: Sequence[Row]) -> int:
    return sum(abs(amount.value) == value for row in rows for amount in row.amounts)


def _contradicted(best: TotalFound, found: Sequence[Labelled], table: Sequence[TaxRow]) -> bool:
    """Say whether an identity with all parts read fails, and fewer than two others hold."""
    if sum(item.strong for item in best.evidence) > 1:
        return False
    value = abs(best.value)
    differences = set(_paid_minus_change(found))
    paid_fails = bool(differences) and value not in differences
    taxed = [row for row in table if row.tax]
    table_fails = bool(taxed) and not best.proven and not taxes.matching(table, value)
    return paid_fails or table_fails
