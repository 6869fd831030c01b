"""Merchant, items, currency, country, time and numbers of one reading."""

from decimal import Decimal

import pytest

from tests.unit.worker.printed import find


def other(name: str, *texts: str) -> str | None:
    found = find(*texts).others.get(name)
    return found.value if found else None


GERMAN = (
    "Marktkauf Lehr",
    "Detmolder Str. 12",
    "33102 Paderborn",
    "Tel 05251 / 180420",
    "SUMME EUR 31,98",
    "Steuernummer: DE31350021038",
    "28.02.20 09:58",
)


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        pytest.param(["CORNER SHOP", "1 Market Street"], "CORNER SHOP", id="the first line"),
        pytest.param(
            ["TAN WOON YANN", "MR D.I.Y. (M) SDN BHD", "LOT 1851-A"],
            "MR D.I.Y. (M) SDN BHD",
            id="a legal form beats a person's name above it",
        ),
        pytest.param(
            ["TAX INVOICE", "FY EAGLE ENTERPRISE"], "FY EAGLE ENTERPRISE", id="not a heading"
        ),
        pytest.param(
            ["99 SPEED MART S/B (519537-X)"], "99 SPEED MART S/B", id="without its registration"
        ),
        pytest.param(list(GERMAN), "Marktkauf Lehr", id="German"),
        pytest.param(["SHOP OF TOYS", "Ball 1kg 4.99"], "SHOP OF TOYS", id="not an item"),
    ],
)
def test_the_merchant_is_found(texts: list[str], name: str) -> None:
    merchant = find(*texts).merchant

    assert merchant is not None
    assert merchant.name == name


@pytest.mark.parametrize(
    ("texts", "items"),
    [
        pytest.param(
            ["Shop", "Milk 2L 3.00", "Bread 4.10", "TOTAL 7.10", "Voucher 9.00"],
            [("Milk 2L", "3.00"), ("Bread", "4.10")],
            id="above the total",
        ),
        pytest.param(
            ["SOBJ VODKA", "9,99 C", "SUMME EUR 9,99"],
            [("SOBJ VODKA", "9.99")],
            id="the name above its amount",
        ),
        pytest.param(
            ["Flasche 1,99", "PFAND 0,25", "SUMME EUR 2,24"],
            [("Flasche", "1.99"), ("PFAND", "0.25")],
            id="a deposit is paid for",
        ),
        pytest.param(
            ["2 x Milk 3.00", "TOTAL 3.00"], [("Milk", "3.00")], id="without its quantity"
        ),
        pytest.param(
            ["2 x 1,25 Yaourt nature 2,50", "Semmel 5 x 0,25 1,25", "TOTAL TTC 3,75 €"],
            [("Yaourt nature", "2.50"), ("Semmel", "1.25")],
            id="with the price of one on either side",
        ),
        pytest.param(
            ["P.IVA 01", "Pane 3,00", "Sconto soci 1,00-", "TOTALE SCONTI 1,00-", "TOTALE 2,00"],
            [("Pane", "3.00"), ("Sconto soci", "-1.00")],
            id="discounts, not their sum",
        ),
        pytest.param(
            ["CIF B12", "2 CAÑA 3,00", "1 PAN 2,00", "IMPORTE TOTAL 5,00"],
            [("2 CAÑA", "3.00"), ("1 PAN", "2.00")],
            id="one that is like a word of the till",
        ),
        pytest.param(["Milk 3.00"], [], id="none where no total ends them"),
    ],
)
def test_items_are_the_lines_paid_for(texts: list[str], items: list[tuple[str, str]]) -> None:
    found = find(*texts).items

    assert [(item.description, str(item.total)) for item in found] == items


@pytest.mark.parametrize(
    ("texts", "currency"),
    [
        pytest.param(["TOTAL RM 4.00"], "MYR", id="printed"),
        pytest.param(["Summe 4,00", "Steuernummer 12", "GmbH"], "EUR", id="the country's"),
        pytest.param(["TOTAL $ 4.00"], None, id="never a guess from a dollar sign"),
        pytest.param(["TOTAL 4.00"], None, id="never a default"),
    ],
)
def test_the_currency_is_printed_or_derived(texts: list[str], currency: str | None) -> None:
    assert find(*texts).currency == currency


def test_the_time_is_the_one_beside_the_date() -> None:
    assert other("transaction_time", "Open 07:00", *GERMAN) == "09:58:00"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("Receipt No: 004417", "004417", id="digits"),
        pytest.param("INV# A-90114", "A-90114", id="letters and digits"),
        pytest.param("Receipt of goods", None, id="a word is no number"),
    ],
)
def test_the_receipt_number_stands_behind_its_label(text: str, number: str | None) -> None:
    assert other("receipt_number", text) == number


@pytest.mark.parametrize(
    ("text", "payments"),
    [
        pytest.param("CASH 50.00", [("cash", "50.00", None)], id="cash"),
        pytest.param(
            "girocard 39,00", [("debit_card", "39.00", "Girocard")], id="a German debit card"
        ),
        pytest.param("Mastercard 39.00", [("card", "39.00", "Mastercard")], id="a credit card"),
        pytest.param("Thank you for shopping", [], id="no word for it"),
    ],
)
def test_a_payment_is_a_line_that_says_how(
    text: str, payments: list[tuple[str, str, str | None]]
) -> None:
    found = find("Datum 01.02.2024", "SUMME 39.00", text).payments

    assert [(str(each.method), str(each.amount), each.network) for each in found] == payments


def test_a_total_keeps_its_exact_cents() -> None:
    total = find("TOTAL 0.10").totals.best

    assert total is not None
    assert total.value == Decimal("0.10")


MALAYSIAN = (
    "BOOK HOUSE SDN BHD",
    "(789417-W)",
    "NO 12, JALAN SAGU 18,",
    "81100 JOHOR BAHRU",
    "TEL: 03-8943 3143",
    "GST ID: 001663156224",
    "Document No : TD01167104",
    "Date: 25/12/2018 8:13:39 PM",
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("merchant_address", "NO 12, JALAN SAGU 18, 81100 JOHOR BAHRU"),
        ("merchant_phone_number", "03-8943 3143"),
        ("merchant_tax_id", "001663156224"),
        ("receipt_number", "TD01167104"),
        ("transaction_time", "20:13:39"),
        ("country_region", "MY"),
        ("currency", "MYR"),
    ],
)
def test_the_head_of_a_receipt_gives_its_fields(name: str, value: str) -> None:
    assert other(name, *MALAYSIAN) == value


@pytest.mark.parametrize(
    ("texts", "name", "value"),
    [
        pytest.param(
            ["SUBTOTAL 6.60", "GST 0.40", "TOTAL 7.00"], "subtotal", "6.60", id="sub-total"
        ),
        pytest.param(["SUBTOTAL 6.60", "GST 0.40", "TOTAL 7.00"], "total_tax", "0.40", id="tax"),
        pytest.param(
            ["TOTAL 71.02", "ROUNDING ADJ 0.02", "TOTAL 71.00"],
            "rounding",
            "-0.02",
            id="rounding has the sign that the sums give it",
        ),
        pytest.param(
            ["SUBTOTAL 9.00", "DISCOUNT 1.50", "COUPON 0.50", "TOTAL 7.00"],
            "discount_total",
            "2.00",
            id="discounts are added up",
        ),
        pytest.param(["TOTAL 7.00", "CASH 10.00", "CHANGE 3.00"], "change", "3.00", id="change"),
        pytest.param(["SUBTOTAL 50.00", "GRATUITY 5.00", "TOTAL 55.00"], "tip", "5.00", id="tip"),
        pytest.param(["TOTAL 7.00", "GST 80.00"], "total_tax", None, id="no tax above a share"),
        pytest.param(["Invoice: 20/11/2017"], "receipt_number", None, id="a date is no number"),
        pytest.param(
            ["Rosen Apotheke", "Rezept", "SUMME EUR 5,00"], "receipt_type", "healthcare", id="kind"
        ),
    ],
)
def test_an_amount_or_kind_is_found(texts: list[str], name: str, value: str | None) -> None:
    assert other(name, *texts) == value


def test_a_derived_currency_says_so() -> None:
    found = find(*MALAYSIAN).others["currency"]

    assert found.evidence == ("derived_from_country",)


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        pytest.param(["2 x 4.00 Tea 8.00"], ("2", "4.00", "8.00"), id="count and price"),
        pytest.param(["Tea 8.00", "2 X RM 4.00"], ("2", "4.00", "8.00"), id="told below"),
        pytest.param(["2 X RM 4.00", "Tea 8.00"], (None, None, "8.00"), id="told above"),
        pytest.param(["Tea 4.00 2 8.00"], ("2", "4.00", "8.00"), id="a number that fits"),
    ],
)
def test_an_item_is_counted_once(
    texts: list[str], wanted: tuple[str | None, str | None, str]
) -> None:
    [item] = find(*texts, "TOTAL 8.00").items

    quantity = None if item.quantity is None else str(item.quantity)
    price = None if item.unit_price is None else str(item.unit_price)
    assert (quantity, price, str(item.total)) == wanted


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        pytest.param(
            ["AIK HUAT HARDWARE", "ENTERPRISE (SETIA", "ALAM) SDN BHD", "NO 17 JALAN INDAH"],
            "AIK HUAT HARDWARE ENTERPRISE (SETIA ALAM) SDN BHD",
            id="over three lines",
        ),
        pytest.param(["A L D I", "Pohlweg 110", "SUMME EUR 1,00"], "ALDI", id="spaced letters"),
        pytest.param(
            ["A LD TIT", "SUMME EUR 1,00", "MwSt", "Aldi GmbH & Co. KG, Holte"],
            "Aldi GmbH & Co. KG",
            id="the foot, where the head is a picture",
        ),
        pytest.param(
            [
                "WUNSCHLOS GLUCKLICH",
                "Marktkauf Lehr",
                "Detmolder Str. 4",
                "SUMME EUR 1,00",
                "MwSt 0,10",
            ],
            "Marktkauf Lehr",
            id="the line above the address",
        ),
        pytest.param(
            ["Aldi Markt", "Brot 1,00", "0,5 kg EURO/kg", "SUMME EUR 1,00", "MwSt 0,10"],
            "Aldi Markt",
            id="a unit is no legal form",
        ),
        pytest.param(
            ["KING SHOP S/B 273500-U (KJ1)", "CASH 1.00"], "KING SHOP S/B", id="two registrations"
        ),
    ],
)
def test_a_merchant_is_named_in_many_ways(texts: list[str], name: str) -> None:
    found = find(*texts).merchant

    assert found is not None
    assert found.name == name
