"""The total of one reading: every printed amount that may be it, ordered by what proves it. Pure.

Agreement of passes proves nothing here, because an engine repeats its mistakes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from receipt_worker.extraction import identities, labels, taxes
from receipt_worker.extraction.identities import Evidence, Seen
from receipt_worker.extraction.items import Item
from receipt_worker.extraction.labels import Labelled, Row
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.taxes import TaxRow
from receipt_worker.extraction.vocabulary import Vocabulary

ROUNDED_WEIGHT = 150  # more than one identity: those of the unrounded total hold as well
MOST_SOURCES = 40  # a receipt has ten; a long document must not take for ever
_LABELS = {Role.TOTAL: 4, Role.PAID: 1, Role.SUBTOTAL: 0, Role.NONE: 0}


@dataclass(frozen=True)
class TotalFound:
    """One candidate with all that speaks for it."""

    value: Decimal
    source: Labelled
    evidence: frozenset[Evidence]
    weight: int
    bases: frozenset[Decimal] = frozenset()  # sums before tax, discount or coins that lead to it

    @property
    def proven(self) -> bool:
        """Whether an identity holds."""
        return any(item.strong for item in self.evidence)


@dataclass(frozen=True)
class Totals:
    """All candidates, best first; `contradicted` when an identity with all its parts fails.

    `surpassed` when the best is not all that was paid, whatever proves it.
    """

    candidates: tuple[TotalFound, ...]
    contradicted: bool
    surpassed: bool
    tax_rows: tuple[TaxRow, ...]

    @property
    def best(self) -> TotalFound | None:
        """The best candidate."""
        return self.candidates[0] if self.candidates else None


def totals(rows: Sequence[Row], items: Sequence[Item], vocabulary: Vocabulary) -> Totals:
    """Weigh every candidate of one reading."""
    found = labels.labelled(rows)
    seen = Seen(rows, found, items, taxes.tax_rows(rows), identities.parts(found), vocabulary)
    judged = [_judged(source, seen) for source in _sources(seen)]
    best_first = sorted(_finals_first(judged, seen), key=lambda total: -total.weight)
    unique = {total.value: total for total in reversed(best_first)}
    candidates = tuple(sorted(unique.values(), key=lambda total: -total.weight))
    best = candidates[0] if candidates else None
    return Totals(
        candidates=candidates,
        contradicted=best is not None and _contradicted(best, seen),
        surpassed=best is not None and _is_surpassed(best, seen),
        tax_rows=taxes.matching(seen.table, abs(best.value)) if best else (),
    )


def _sources(seen: Seen) -> tuple[Labelled, ...]:
    """Return the amounts that may be the total; of a long document the last ones.

    An amount whose label was not read counts where what was paid and what came back give it.
    """
    roles = {Role.TOTAL, Role.PAID, Role.SUBTOTAL}
    labelled = [
        item
        for item in seen.found
        if item.role in roles and not taxes.is_share_of_another(item.line, item.value, seen.rows)
    ]
    known = {abs(item.value) for item in labelled}
    paid = identities.paid_minus_change(seen.found) - known
    unlabelled = [
        Labelled(Role.NONE, amount.value, amount, row.position, row.line, alone=True)
        for row in seen.rows
        for amount in row.amounts
        if amount.value in paid
    ]
    return tuple((*unlabelled, *labelled)[-MOST_SOURCES:])


def _judged(source: Labelled, seen: Seen) -> TotalFound:
    held = identities.held(source, seen)
    before = identities.before_coins(source, seen.found)
    weight = _weight(source, held, seen.rows) + (ROUNDED_WEIGHT if before else 0)
    bases = before | identities.bases(source, seen.found, seen.parts)
    return TotalFound(source.value, source, held, weight, bases)


def _weight(source: Labelled, held: frozenset[Evidence], rows: Sequence[Row]) -> int:
    """Order of candidates: proof, then label, then how often and how far down it is printed."""
    strong = sum(item.strong for item in held)
    label = _LABELS[source.role]
    if source.role is Role.TOTAL and not source.alone:
        label = 1
    printed = min(identities.times_printed(abs(source.value), rows), 3)
    place = 10 * source.position // max(1, len(rows))
    zero = -1000 if source.value == 0 else 0
    paid = 50 if Evidence.PAID_MINUS_CHANGE in held else 0
    return 100 * min(strong, 2) + paid + 30 * label + 10 * printed + place + zero


def _finals_first(judged: Sequence[TotalFound], seen: Seen) -> Iterator[TotalFound]:
    """Weigh a total above the sums that it was made of: what proves those is no proof of them."""
    weights = {total.value: total.weight for total in judged}
    for total in judged:
        if total.source.role is not Role.TOTAL or Evidence.PARTS_SUM not in total.evidence:
            yield total
            continue
        below = [
            weights.get(base, 0) for base in identities.bases(total.source, seen.found, seen.parts)
        ]
        yield replace(total, weight=max([total.weight, *(weight + 1 for weight in below)]))


def _contradicted(best: TotalFound, seen: Seen) -> bool:
    """Say whether an identity with all parts read fails, and fewer than two others hold."""
    if identities.is_before_coins(abs(best.value), seen.rows):
        return True
    if sum(item.strong for item in best.evidence) > 1:
        return False
    if Evidence.ITEMS_SUM in best.evidence and _has_total_below(best, seen):
        return True
    value = abs(best.value)
    differences = identities.paid_minus_change(seen.found)
    paid_fails = bool(differences) and value not in differences
    taxed = [row for row in seen.table if row.tax]
    table_fails = bool(taxed) and not best.proven and not taxes.matching(seen.table, value)
    return paid_fails or table_fails


def _has_total_below(best: TotalFound, seen: Seen) -> bool:
    """Say whether another total is printed below that it does not lead to, as after a discount."""
    return any(
        item.role is Role.TOTAL and item.value not in {best.value, *best.bases}
        for item in _below(best, seen)
    )


def _is_surpassed(best: TotalFound, seen: Seen) -> bool:
    """Say whether a tip is added below, or one thing cost more and no sum speaks for the total."""
    if any(item.role is Role.TIP and item.value for item in _below(best, seen)):
        return True
    if not best.evidence <= {Evidence.CARD_SLIP, Evidence.PRINTED_TWICE}:
        return False
    taken_off = sum(
        (abs(item.value) for item in seen.found if item.role is Role.DISCOUNT), Decimal(0)
    )
    return any(item.total > abs(best.value) + taken_off for item in seen.items)


def _below(best: TotalFound, seen: Seen) -> list[Labelled]:
    return [item for item in seen.found if item.alone and item.position > best.source.position]
