"""Amounts in printed text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_worker.extraction import currency, money
from tests.unit.worker.printed import VOCABULARY


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("TOTAL 30.90", ["30.90"], id="point"),
        pytest.param("SUMME EUR 31,98", ["31.98"], id="comma"),
        pytest.param("1.234,56", ["1234.56"], id="points for thousands"),
        pytest.param("1,234.56", ["1234.56"], id="commas for thousands"),
        pytest.param("3 038,14", ["3038.14"], id="a blank for thousands"),
        pytest.param("1'939.00", ["1939.00"], id="a Swiss apostrophe"),
        pytest.param("27,80", ["27.80"], id="never a number a hundred times larger"),
        pytest.param("2 100.00", ["100.00"], id="a quantity in front"),
        pytest.param("NO. 53, LOT .12", ["0.12"], id="a house number"),
        pytest.param("-8,10", ["-8.10"], id="minus in front"),
        pytest.param("8.10-", ["-8.10"], id="minus behind"),
        pytest.param("ROUNDING .02", ["0.02"], id="no digit before the point"),
        pytest.param("49. 99", ["49.99"], id="a blank after the point"),
        pytest.param("3O.9O", ["30.90"], id="letters read for digits"),
        pytest.param("2 x 3.50 7.00", ["3.50", "7.00"], id="unit price and total"),
        pytest.param("27,80", ["27.80"], id="never hundreds instead of cents"),
        pytest.param("28.02.20", [], id="a date is no amount"),
        pytest.param("14.03.2024 09.58", ["9.58"], id="nor is a full one"),
        pytest.param("19,00%", [], id="a rate is no amount"),
        pytest.param("0.345 kg", [], id="a weight is no amount"),
        pytest.param("12.345.67", [], id="two points have no certain reading"),
        pytest.param("001492992000", [], id="a number without cents is no amount"),
        pytest.param("1.2.3.4.55", [], id="an address is no amount"),
    ],
)
def test_amounts_are_found_exactly(text: str, values: list[str]) -> None:
    found = money.amounts(text)

    assert [amount.value for amount in found] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("Grand Total Rs 1939", ["1939.00"], id="behind a sign of letters"),
        pytest.param("Rs. 1,939 x 2", ["1939.00"], id="grouped, and no number without a sign"),
        pytest.param("\u20ac25 and $ 30", ["25.00", "30.00"], id="two signs"),
        pytest.param("Rs 12/05", [], id="no date"),
        pytest.param("Account No. 00030340067212", [], id="no number without a sign"),
    ],
)
def test_a_receipt_without_decimals_prints_whole_amounts_behind_signs(
    text: str, values: list[str]
) -> None:
    signs = currency.every_sign(VOCABULARY)

    found = money.whole_amounts_after_signs(text, signs)

    assert [str(amount.value) for amount in found] == values


@given(
    value=st.decimals(min_value=0, max_value=Decimal("9999999.99"), places=2),
    point=st.sampled_from(".,"),
    grouped=st.booleans(),
    before=st.sampled_from(["", "TOTAL ", "EUR ", "RM"]),
)
def test_whatever_is_printed_is_read_back(
    value: Decimal, point: str, *, grouped: bool, before: str
) -> None:
    group = {".": ",", ",": "."}[point] if grouped else ""
    whole, cents = f"{value:.2f}".split(".")
    printed = f"{int(whole):,}".replace(",", group) + point + cents

    [amount] = money.amounts(before + printed)

    assert amount.value == value


@given(st.text())
def test_any_text_is_survived_and_gives_cents_only(text: str) -> None:
    for amount in money.amounts(text):
        assert amount.value == amount.value.quantize(Decimal("0.01"))
        assert 0 <= amount.start < amount.end <= len(text)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        pytest.param("TOTAL RM 4.00", ("MYR",), id="a sign of letters"),
        pytest.param("9,99€", ("EUR",), id="a sign glued to the amount"),
        pytest.param("ARM CHAIR FARM 4.00", (), id="letters inside words are no sign"),
        pytest.param("$ 4.00", (), id="a dollar sign names several currencies"),
        pytest.param("4.00 USD", ("USD",), id="a code behind"),
    ],
)
def test_currencies_are_those_printed(text: str, codes: tuple[str, ...]) -> None:
    signs = {"rm": "MYR", "€": "EUR", "eur": "EUR", "usd": "USD"}

    assert tuple(code for code, _ in money.currencies(text, signs)) == codes


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("TOTAL \u00a51,280", ["1280"], id="a sign in front"),
        pytest.param("1,280\u5186 each", ["1280"], id="a sign behind"),
        pytest.param("Coffee 450", ["450"], id="last on its line"),
        pytest.param("Room 12 upstairs", [], id="a number inside a text"),
        pytest.param("2026/03/01", [], id="a date"),
        pytest.param("TEL 03-1234-5678", [], id="a telephone number"),
        pytest.param("Tax 10%", [], id="a rate"),
    ],
)
def test_whole_amounts_are_signed_grouped_or_last(text: str, values: list[str]) -> None:
    assert [str(amount.value) for amount in money.whole_amounts(text)] == values


@given(st.integers(0, 10**7))
def test_every_whole_amount_is_read_as_it_is_printed(value: int) -> None:
    [amount] = money.whole_amounts(f"\u20a9{value:,}")

    assert amount.value == value
