"""Exact money. Pure; nothing here is ever a float."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import combinations

from receipt_contract.errors import PermanentError, Reason

MOST_DECIMALS = 4  # no currency has more; what lies beyond is noise of a worker that used floats
FEWEST_DECIMALS = 2

_SMALLEST = Decimal(1).scaleb(-MOST_DECIMALS)

# Cash is rounded to five hundredths in some countries.
ROUNDING = Decimal("0.05")


def exact(amount: Decimal | None) -> Decimal | None:
    """Return an amount with two to four decimals; raises PermanentError(INVALID_EVENT)."""
    if amount is None:
        return None
    try:
        whole = amount.quantize(_SMALLEST)
    except InvalidOperation as error:  # more digits than any sum of money has
        raise PermanentError(Reason.INVALID_EVENT) from error
    decimals = max(FEWEST_DECIMALS, MOST_DECIMALS - _trailing_zeros(whole))
    return whole.quantize(Decimal(1).scaleb(-decimals))


def add_up(
    *,
    subtotal: Decimal | None,
    tax: Decimal | None,
    total: Decimal | None,
    others: Sequence[Decimal] = (),
) -> bool:
    """Tell whether the sums agree, as far as known.

    The subtotal may include the tax, and any of `others` (tip, rounding, discounts below zero).
    """
    if subtotal is None or tax is None or total is None:
        return True
    added = (tax, *others)
    return any(
        abs(total - subtotal - sum(chosen)) <= ROUNDING
        for count in range(len(added) + 1)
        for chosen in combinations(added, count)
    )


def _trailing_zeros(whole: Decimal) -> int:
    digits = f"{whole:f}".rpartition(".")[2]
    return len(digits) - len(digits.rstrip("0"))
