"""The table of taxes: rows of net, tax and gross that agree with themselves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, permutations

from receipt_worker.extraction import money
from receipt_worker.extraction.labels import Row
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.tables import Role

CENT = Decimal("0.01")
ROUNDED = Decimal("0.02")  # how far a printed tax may lie from rate times net
HALF_CENT = Decimal("0.0051")  # and a little, as shares are divided
MOST_ROWS = 6
NEAR_HEADER = 8  # lines below one about tax in which a row of its table stands
_HEADS = {Role.TAX, Role.SUBTOTAL, Role.NONE}
_HUNDRED = Decimal(100)
_CODE = re.compile(r"\W*([^\W\d_]{1,12})(?![^\W\d_])")
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
    line: Line

    @property
    def code(self) -> str | None:
        """The letter or word in front of its amounts."""
        match = _CODE.match(self.line.text)
        return match[1] if match else None

    @property
    def gross(self) -> Decimal:
        """What the customer paid under this rate."""
        return self.net + self.tax


def tax_rows(rows: Sequence[Row]) -> tuple[TaxRow, ...]:
    """Rows whose amounts prove each other; the same row printed twice counts once.

    A row without a printed rate is one only below a line that speaks of tax: four at 38.00 are no
    25 % of 152.00.
    """
    found: dict[tuple[Decimal, Decimal], TaxRow] = {}
    headed = NEAR_HEADER + 1
    for row in rows:
        headed = 0 if row.role in _HEADS else headed + 1
        tax_row = _tax_row(row, headed=headed <= NEAR_HEADER)
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


def is_share_of_another(line: Line, value: Decimal, rows: Sequence[Row]) -> bool:
    """Say whether this amount is the tax, at the rate on its line, in a larger one."""
    printed = money.rates(line.text)
    return any(
        abs(amount.value * rate / (_HUNDRED + rate) - value) <= HALF_CENT
        for rate in printed
        if rate > 0 and value >= _LEAST_SHARE
        for row in rows
        for amount in row.amounts
        if amount.value > value
    )


def _tax_row(row: Row, *, headed: bool) -> TaxRow | None:
    values = [amount.value for amount in row.amounts]
    if sum(value < 0 for value in values) > 1:  # what was brought back: all amounts are negative
        returned = _sizes_row(row, [abs(value) for value in values], headed=headed)
        return returned and replace(returned, net=-returned.net, tax=-returned.tax)
    return _sizes_row(row, [value for value in values if value >= 0], headed=headed)


def _sizes_row(row: Row, values: Sequence[Decimal], *, headed: bool) -> TaxRow | None:
    printed = money.rates(row.line.text)
    untaxed = bool(printed) and not any(printed)  # a tax of nothing may be left out
    if len(values) == 1 and headed and untaxed:
        return TaxRow(Decimal(0), values[0], Decimal(0), row.line)
    if not 2 <= len(values) <= 5:  # noqa: PLR2004 - a pair at least, a rate and codes at most
        return None
    for net, tax in permutations(values, 2):
        triple = net + tax in values
        if not tax < net or (tax < _LEAST_TAX and not (triple and printed)):
            continue
        rate = _rate(net, tax, printed=printed, triple=triple) if printed or headed else None
        if rate is not None:
            return TaxRow(rate, net, tax, row.line)
    if values[-1] == 0 and values[0] > 0:
        return TaxRow(Decimal(0), values[0], Decimal(0), row.line)
    return None


def _rate(
    net: Decimal, tax: Decimal, *, printed: Sequence[Decimal], triple: bool
) -> Decimal | None:
    tolerance = ROUNDED if printed or triple else CENT
    for rate in printed or KNOWN_RATES:
        if abs(net * rate / _HUNDRED - tax) <= tolerance:
            return rate
    return None
