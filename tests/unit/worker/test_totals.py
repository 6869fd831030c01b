"""The total of one reading, and what proves it."""

from decimal import Decimal

import pytest

from receipt_worker.extraction.identities import Evidence
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.totals import MOST_SOURCES, TotalFound
from tests.unit.worker.printed import find


def best(*texts: str) -> TotalFound:
    found = find(*texts).totals.best
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("texts", "value", "evidence"),
    [
        pytest.param(
            ["TOTAL 29.30", "CASH TENDERED 50.00", "CHANGE 20.70"],
            "29.30",
            Evidence.PAID_MINUS_CHANGE,
            id="what was given less what came back",
        ),
        pytest.param(
            ["SUMME EUR 31,98", "BAR EUR 40,08", "Rückgeld EUR -8,10"],
            "31.98",
            Evidence.PAID_MINUS_CHANGE,
            id="the same in German, with a minus",
        ),
        pytest.param(
            ["SUB-TOTAL 6.60", "GST 0.40", "TOTAL 7.00"],
            "7.00",
            Evidence.PARTS_SUM,
            id="sub-total and tax",
        ),
        pytest.param(
            ["TOTAL SALES (INCLUSIVE GST) 181.98", "ROUNDING ADJUSTMENT .02", "TOTAL 182.00"],
            "182.00",
            Evidence.PARTS_SUM,
            id="rounded to coins",
        ),
        pytest.param(
            ["TOTAL (INCLUSIVE OF GST): 71.02", "ROUNDING ADJ: -0.02", "TOTAL : 71.00"],
            "71.00",
            Evidence.PARTS_SUM,
            id="rounded down to coins",
        ),
        pytest.param(
            ["Milk 3.00", "Bread 4.10", "TOTAL 7.10"],
            "7.10",
            Evidence.ITEMS_SUM,
            id="the items",
        ),
        pytest.param(
            ["SUMME EUR 24,01", "C 19% 20,18 3,83 24,01"],
            "24.01",
            Evidence.TAX_TABLE,
            id="one row of the tax table",
        ),
        pytest.param(
            ["SUMME EUR 31,98", "B 7% 7,45 0,52 7,97", "C 19% 20,18 3,83 24,01"],
            "31.98",
            Evidence.TAX_TABLE,
            id="two rows of the tax table",
        ),
        pytest.param(
            ["SUMME EUR 39,00", "Kartenzahlung girocard 39,00"],
            "39.00",
            Evidence.CARD_SLIP,
            id="the card slip",
        ),
        pytest.param(
            ["TOTAL 0% SUPPLIES 23.44", "TOTAL 6% SUPPLIES 27.98", "TOTAL PAYABLE 51.42"],
            "51.42",
            Evidence.PARTS_SUM,
            id="sums of two tax classes",
        ),
        pytest.param(
            ["SHOES 4X 38.00 152.00", "TOTAL 152.00"],
            "152.00",
            Evidence.ITEMS_SUM,
            id="one item bought several times",
        ),
        pytest.param(
            ["TOTAL 15.00", "DEBIT CARD 5.00", "CASH 10.00"],
            "15.00",
            Evidence.PAID_MINUS_CHANGE,
            id="two means of payment",
        ),
        pytest.param(
            [
                "SUMME EUR 11,33",
                "C 7% 10,82 0,76 11,58",
                "D 19% 0,21- 0,04- 0,25-",
            ],
            "11.33",
            Evidence.TAX_TABLE,
            id="a tax table with a bottle brought back",
        ),
        pytest.param(
            ["22.73 litre Pump # 06", "Unleaded RM 50.00 C", "2.200 RM / litre", "Total RM 50.00"],
            "50.00",
            Evidence.MEASURED,
            id="litres times their price",
        ),
        pytest.param(
            ["Super E10 45,45 Liter", "Preis EUR/Liter 1,299", "Summe EUR 59,04"],
            "59.04",
            Evidence.MEASURED,
            id="litres times their price, in German",
        ),
        pytest.param(
            ["Tea 90.00", "Rice 91.98", "TOTAL 181.98", "ROUNDING ADJ 9.02", "NET TOTAL 182.00"],
            "182.00",
            Evidence.ITEMS_SUM,
            id="the items before a rounding that was misread",
        ),
        pytest.param(
            ["TOTAL 179.98", "TAX SUMMARY", "S 6% 33.56 2.02", "Z 0% 144.40 00"],
            "179.98",
            Evidence.TAX_TABLE,
            id="a tax table with a tax of nothing misread",
        ),
        pytest.param(
            ["Jue 19.20", "CASH 20.00", "CHANGE 0.80"],
            "19.20",
            Evidence.PAID_MINUS_CHANGE,
            id="an amount whose label was not read",
        ),
    ],
)
def test_an_identity_proves_the_total(texts: list[str], value: str, evidence: Evidence) -> None:
    total = best(*texts)

    assert total.value == Decimal(value)
    assert evidence in total.evidence
    assert total.proven


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        pytest.param(["TOTAL QTY 12.00", "TOTAL 7.00"], "7.00", id="a quantity"),
        pytest.param(["TOTAL 7.00", "TOTAL SAVINGS 12.00"], "7.00", id="savings"),
        pytest.param(["SUBTOTAL 12.00", "COUPON 5.00", "TOTAL 7.00"], "7.00", id="a sub-total"),
        pytest.param(["TOTAL 7.00", "CASH 50.00", "CHANGE 43.00"], "7.00", id="cash"),
        pytest.param(["TOTAL 7.00", "TOTAL TAX 12.00"], "7.00", id="tax"),
        pytest.param(["TOTAE 7.00", "CASH 50.00"], "7.00", id="cash beside a misread label"),
        pytest.param(["T0TAL 7.00", "CASH 50.00"], "7.00", id="cash beside a zero for an O"),
        pytest.param(
            ["TOTAL 25.60", "COUPON 21.70", "GRAND TOTAL 3.90"], "3.90", id="before a coupon"
        ),
        pytest.param(
            ["Tea 26.00", "Rice 26.00", "TOTAL 52.00", "TAX 3.10", "TOTAL 55.10"],
            "55.10",
            id="what the items add up to, before tax",
        ),
        pytest.param(
            ["TOTAL 18.00", "TOTAL INCLUDES GST 6% 1.02"], "18.00", id="the tax it includes"
        ),
        pytest.param(
            ["TOTAL 181.98", "ROUNDING 9.02", "CASH 182.00"],
            "182.00",
            id="before a rounding that was misread",
        ),
    ],
)
def test_another_amount_is_not_taken_for_the_total(texts: list[str], value: str) -> None:
    assert best(*texts).value == Decimal(value)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["TOTAL 7.00"], id="a label alone"),
        pytest.param(["TOTAL 7.00", "CASH 7.00"], id="the same amount again"),
        pytest.param(["TOTAL 7.00", "CASH 7.00", "CHANGE 0.00"], id="nothing came back"),
        pytest.param(["Milk 7.00", "TOTAL 7.00"], id="one item"),
        pytest.param(["Milk 3.00", "Bread 4.10", "SUBTOTAL 7.10"], id="items, before the total"),
        pytest.param(
            ["Ham 0.162 kg x 11.50 EUR/kg 1.86", "Tea 4.00", "TOTAL 1.86"],
            id="the weight of one item among others",
        ),
    ],
)
def test_repetition_proves_nothing(texts: list[str]) -> None:
    assert not best(*texts).proven


def test_an_identity_that_fails_contradicts_the_total() -> None:
    totals = find("TOTAL 19.16", "CASH 20.00", "CHANGE 0.54").totals

    assert totals.contradicted


def test_a_total_that_no_coins_pay_is_contradicted_by_a_printed_rounding() -> None:
    lines = ["Tea 3.00", "Rice 4.11", "TOTAL 7.11"]

    assert find(*lines, "ROUNDING -0.01").totals.contradicted
    assert not find(*lines, "ROUNDING 0.00").totals.contradicted
    assert not find(*lines).totals.contradicted


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["Subtotal 19.25", "Tax 1.59", "TOTAL 20.84", "Tip 4.00"], id="a tip below"),
        pytest.param(
            ["Tea 8.90", "Rice 5.55", "TOTAL 1.50", "Paid 1.50"], id="less than one thing cost"
        ),
    ],
)
def test_what_is_not_all_that_was_paid_is_surpassed(texts: list[str]) -> None:
    assert find(*texts).totals.surpassed


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["TOTAL 20.84", "Tip 4.00", "GRAND TOTAL 24.84"], id="the total with its tip"),
        pytest.param(["TOTAL 20.84", "Suggested tip 18% 3.47"], id="a tip that is suggested"),
        pytest.param(["Tea 8.90", "COUPON 7.40", "TOTAL 1.50"], id="after a coupon"),
        pytest.param(["Tea 8.90", "Rice 8.90", "TOTAL 17.80"], id="the sum of what was bought"),
    ],
)
def test_what_was_paid_is_not_surpassed(texts: list[str]) -> None:
    assert not find(*texts).totals.surpassed


def test_another_total_below_contradicts_one_that_only_items_prove() -> None:
    texts = ["Tea 8.90", "Rice 6.60", "TOTAL 15.50", "Member price", "TOTAL DUE 14.00"]

    assert find(*texts).totals.contradicted


@pytest.mark.parametrize(
    "label", ["TOTAL DISCOUMT", "TOTAL SAVlNGS", "TOTAL QUANTlTY", "Total descomtos", "Total dto."]
)
def test_a_misread_word_beside_total_still_says_what_is_added_up(label: str) -> None:
    spanish = ["NIF A28164754", "Total IVA 1,20", "Cupom", "Troco 0,00", "Contribuinte"]

    found = find(*spanish, "TOTAL 14.00", f"{label} 1.50")

    assert [
        total.value for total in found.totals.candidates if total.source.role is Role.TOTAL
    ] == [Decimal("14.00")]


def test_a_tax_table_that_adds_up_to_something_else_contradicts_the_total() -> None:
    totals = find("SUMME EUR 19,16", "A 7% 8,40 0,59 8,99", "B 19% 8,80 1,67 10,47").totals

    assert totals.contradicted


def test_a_price_and_its_multiple_are_no_tax_table() -> None:
    totals = find("TEE 38.00 152.00", "TOTAL 152.00").totals

    assert not totals.contradicted
    assert not totals.tax_rows


def test_a_row_of_a_tax_table_proves_no_total_by_itself() -> None:
    found = best("MWST BETRAG C 7% 10,82 0,76 11,58", "SUMME EUR 14,33")

    assert not found.proven


def test_a_long_document_full_of_sums_takes_no_time() -> None:
    texts = [
        f"{label} {number}.{number % 100:02}"
        for number in range(1, 400)
        for label in ("TOTAL", "SUBTOTAL", "TAX", "TIP", "DISCOUNT", "ROUNDING", "CASH", "CHANGE")
    ]

    assert len(find(*texts).totals.candidates) <= MOST_SOURCES


def test_a_rounding_is_read_behind_a_sign_that_was_misread() -> None:
    found = find("SUBTOTAL RM41.43", "ROUNDING RHO.02", "TOTAL RY41.45")

    assert found.amount("rounding") == Decimal("0.02")


def test_no_total_is_made_up_where_none_is_printed() -> None:
    assert find("Milk 3.00", "Bread 4.10").totals.best is None


def test_the_tax_is_that_of_the_table_which_proves_the_total() -> None:
    found = find("SUMME EUR 31,98", "B 7% 7,45 0,52 7,97", "C 19% 20,18 3,83 24,01")

    assert found.amount("total_tax") == Decimal("4.35")
