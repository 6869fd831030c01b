"""The table of taxes: rows of net, tax and gross that agree with themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations

from receipt_worker.extraction import money
from receipt_worker.extraction.labels import Row

CENT = Decimal("0.01")
ROUNDED = Decimal("0.02")  # how far a printed tax may lie from rate times net
HALF_CENT = Decimal("0.0051")  # and a little, as shares are divided
MOST_ROWS = 6
_HUNDRED = Decimal(100)
_LEAST_TAX = Decimal("0.05")  # below, any rate fits

_LEAST_SHARE = Decimal("0.15")  # a smaller tax is the share of too many totals

# Rates in use in the countries we know; taken when the row prints none.
KNOWN_RATES = tuple(
    map(Decimal, ("5", "5.5", "6", "7", "8", "9", "10", "12", "13", "15", "16", "18", "19"))
) + tuple(map(Decimal, ("20", "21", "22", "23", "24", "25")))


@dataclass(frozen=True)
class TaxRow:
    """One rate of the table; net + tax is what was paid under it."""

    rate: Decimal | None
    net: Decimal
    tax: Decimal
    position: int

    @property
    def gross(self) -> Decimal:
        """What the customer paid under this rate."""
        return self.net + self.tax


def tax_rows(rows: Sequence[Row]) -> tuple[TaxRow, ...]:
    """Rows whose amounts prove each other; the same row printed twice counts once."""
    found: dict[tuple[Decimal, Decimal], TaxRow] = {}
    for row in rows:
        tax_row = _tax_row(row)
        if tax_row is not None:
            found.setdefault((tax_row.net, tax_row.tax), tax_row)
    return tuple(found.values())[:MOST_ROWS]


def matching(rows: Sequence[TaxRow], total: Decimal) -> tuple[TaxRow, ...]:
    """Return the rows that add up to the total, one of them taxed; empty when none do."""
    for size in range(len(rows), 0, -1):
        for chosen in combinations(rows, size):
            if any(row.tax for row in chosen) and sum(row.gross for row in chosen) == total:
                return chosen
    return ()


def is_share_printed(rows: Sequence[Row], total: Decimal) -> bool:
    """Say whether a tax is printed, with its rate, that is the share of this total."""
    return any(
        abs(total * rate / (_HUNDRED + rate) - amount.value) <= HALF_CENT
        for row in rows
        for rate in money.rates(row.line.text)
        for amount in row.amounts
        if rate > 0 and amount.value >= _LEAST_SHARE
    )


def _tax_row(row: Row) -> TaxRow | None:
    values = [amount.value for amount in row.amounts if amount.value >= 0]
    printed = money.rates(row.line.text)
    if not 2 <= len(values) <= 5:  # noqa: PLR2004 - a pair at least, a rate and codes at most
        return None
    for net, tax in permutations(values, 2):
        if not _LEAST_TAX <= tax < net:
            continue
        rate = _rate(net, tax, printed=printed, triple=net + tax in values)
        if rate is not None:
            return TaxRow(rate, net, tax, row.position)
    if values[-1] == 0 and values[0] > 0:
        return TaxRow(Decimal(0), values[0], Decimal(0), row.position)
    return None


def _rate(
    net: Decimal, tax: Decimal, *, printed: Sequence[Decimal], triple: bool
) -> Decimal | None:
    tolerance = ROUNDED if printed or triple else CENT
    for rate in printed or KNOWN_RATES:
        if abs(net * rate / _HUNDRED - tax) <= tolerance:
            return rate
    return None
