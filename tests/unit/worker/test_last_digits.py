"""The last four digits of a card are those that a till prints behind a mask, and no others."""

import pytest

from receipt_worker.extraction import card, last_digits
from tests.unit.worker.printed import VOCABULARY, find, make_lines


@pytest.mark.parametrize(
    ("texts", "digits"),
    [
        pytest.param(["VISA ************4242"], "4242", id="asterisks"),
        pytest.param(["CARD XXXX-XXXX-XXXX-1881"], "1881", id="crosses"),
        pytest.param(["VISA xx ke kkk keke * 1881 70.60"], "1881", id="asterisks read as letters"),
        pytest.param(["VISA ****4242", "VISA ****4243"], None, id="two that differ"),
        pytest.param(["TABLE 4242"], None, id="a number that is no card"),
        pytest.param(["Nr. ########0000"], None, id="the number of a card's copy"),
        pytest.param(["Nr. ########6004 0000"], "6004", id="in front of the copy's number"),
        pytest.param(["VISA 42.42"], None, id="an amount"),
    ],
)
def test_the_last_four_digits_are_those_printed_behind_a_mask(
    texts: list[str], digits: str | None
) -> None:
    assert last_digits.last4(make_lines(*texts), VOCABULARY) == digits


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(["OFFICEMAX #0215"], id="a letter and a sign"),
        pytest.param(["TJ MAXX 0521"], id="two letters of a name"),
        pytest.param(["PO BOX # 1234"], id="a letter and a sign apart"),
        pytest.param(["FAX #5512"], id="a number of a fax"),
        pytest.param(["ORDER ## 0042"], id="two signs"),
        pytest.param(["*** 2024-03-14 10:15 ***"], id="a day"),
        pytest.param(["**** 2024-03-14 10:15 ****"], id="a day between four marks"),
        pytest.param(["**** 1015:30"], id="a time"),
        pytest.param(["**** 1015.30"], id="an amount"),
        pytest.param(["** 1015 **", "CASH 5.00"], id="a headline"),
        pytest.param(["**** 1015 ****", "CASH 5.00"], id="a headline of four marks"),
        pytest.param(["**** 12345678 ****"], id="a longer headline"),
        pytest.param(["VISA KEKEK 1015:30"], id="a time behind letters"),
    ],
)
def test_last_digits_and_a_card_are_never_made_up(texts: list[str]) -> None:
    lines = card.redacted(make_lines(*texts), VOCABULARY)

    assert last_digits.last4(lines, VOCABULARY) is None
    assert all(payment.last4 is None for payment in find(*texts).payments)


@pytest.mark.parametrize(
    ("texts", "digits"),
    [
        pytest.param(["****1234"], "1234", id="four asterisks on any line"),
        pytest.param(["XXXX-XXXX-XXXX-1234"], "1234", id="crosses in groups"),
        pytest.param(["xxxxxxxxxxxx1234"], "1234", id="small crosses"),
        pytest.param(["VISAXXXXXXXXXXXX1234"], "1234", id="crosses behind a name"),
        pytest.param(["VISA **1234"], "1234", id="two beside a card"),
        pytest.param(["AMEX ##1234"], "1234", id="two beside a network"),
        pytest.param(["####1234"], "1234", id="signs of numbers"),
        pytest.param(["\u00d7\u00d7\u00d7\u00d71234"], "1234", id="signs of multiplication"),
        pytest.param(["\u6c34\u6c34\u6c34\u6c341234"], "1234", id="characters"),
        pytest.param(["\u2022\u2022\u2022\u20221234"], "1234", id="bullets"),
        pytest.param(["VISA 12.00", "**1234"], "1234", id="alone below a card"),
        pytest.param(["VISA ************1234 **/**"], "1234", id="when it expires is masked too"),
        pytest.param(["OFFICEMAX #0215", "VISA ************4242"], "4242", id="a name beside it"),
        pytest.param(["VISA XXXXXXX1O81"], "1081", id="a letter for a zero"),
        pytest.param(["PAN XXXXXXX1O81"], "1081", id="a letter where nothing says how it was paid"),
    ],
)
def test_every_printed_mask_gives_its_digits(texts: list[str], digits: str) -> None:
    lines = card.redacted(make_lines(*texts), VOCABULARY)

    assert last_digits.last4(lines, VOCABULARY) == digits
    assert [payment.last4 for payment in find(*texts).payments] == [digits]
