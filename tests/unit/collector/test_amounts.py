"""Exact money."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_collector import amounts
from receipt_contract.errors import PermanentError, Reason


@given(st.decimals(-(10**9), 10**9, places=2))
def test_cents_are_never_changed(amount: Decimal) -> None:
    assert str(amounts.exact(amount)) == f"{amount:.2f}"


@given(st.decimals(-(10**9), 10**9, places=4))
def test_four_decimals_are_kept(amount: Decimal) -> None:
    assert amounts.exact(amount) == amount


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6))
def test_noise_of_floats_is_taken_off(cents: int, noise: int) -> None:
    amount = Decimal(cents) / 100

    assert amounts.exact(amount + Decimal(noise).scaleb(-15)) == amount


def test_more_digits_than_money_has_are_refused() -> None:
    with pytest.raises(PermanentError) as caught:
        amounts.exact(Decimal("1e40"))

    assert caught.value.reason is Reason.INVALID_EVENT


def test_an_unknown_amount_stays_unknown() -> None:
    assert amounts.exact(None) is None


@pytest.mark.parametrize(
    ("subtotal", "tax", "total", "agree"),
    [
        pytest.param("10.00", "1.00", "11.00", True, id="tax on top"),
        pytest.param("11.00", "1.00", "11.00", True, id="tax included"),
        pytest.param("10.00", "1.00", "11.05", True, id="cash rounding"),
        pytest.param("10.00", "1.00", "12.00", False, id="a contradiction"),
        pytest.param("10.00", None, "12.00", True, id="an unknown tax proves nothing"),
        pytest.param(None, None, None, True, id="nothing known"),
    ],
)
def test_sums(subtotal: str | None, tax: str | None, total: str | None, *, agree: bool) -> None:
    known = [Decimal(text) if text else None for text in (subtotal, tax, total)]

    assert amounts.add_up(subtotal=known[0], tax=known[1], total=known[2]) is agree


@pytest.mark.parametrize(
    ("total", "agree"),
    [
        pytest.param("33.00", True, id="neither tip nor discount"),
        pytest.param("35.00", True, id="a tip on top"),
        pytest.param("32.00", True, id="a discount taken off"),
        pytest.param("34.00", True, id="both"),
        pytest.param("37.00", False, id="more than all of it"),
    ],
)
def test_sums_with_what_stands_between_subtotal_and_total(total: str, *, agree: bool) -> None:
    found = amounts.add_up(
        subtotal=Decimal("30.00"),
        tax=Decimal("3.00"),
        total=Decimal(total),
        others=(Decimal("2.00"), Decimal("-1.00")),
    )

    assert found is agree
