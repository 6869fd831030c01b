"""Card numbers never get past the last four digits (promise G8)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_worker.extraction import card
from tests.unit.worker.printed import VOCABULARY, make_line, make_lines

LUHN_VALID = "4556737586899855"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("4556 7375 8689 9855", "**** **** **** 9855", id="four groups"),
        pytest.param("4556-7375-8689-9855", "****-****-****-9855", id="four groups with hyphens"),
        pytest.param("4556737586899855", "************9855", id="one run"),
        pytest.param("3714 496353 98431", "**** ****** *8431", id="fifteen digits"),
        pytest.param("455673XXXXXX9855", "************9855", id="digits before the mask"),
        pytest.param("4556 73** **** 9855", "**** **** **** 9855", id="half masked"),
        pytest.param("############6004 0000", "************6004 0000", id="a number behind it"),
        pytest.param("****1234", "****1234", id="masked already"),
        pytest.param("XXXX-XXXX-XXXX-1234", "****-****-****-1234", id="masked with crosses"),
        pytest.param("xxxx xxxx\u00d71234", "**** *****1234", id="a sign of multiplication"),
        pytest.param("\u6c34\u6c34\u6c34\u6c341234", "****1234", id="asterisks read as characters"),
        pytest.param("******12345", "*******2345", id="five digits behind the mask"),
    ],
)
def test_g8_all_digits_but_the_last_four_are_struck_out(text: str, kept: str) -> None:
    assert card.redact(text, about_card=False) == kept


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("4006825607727 Spindelmaeher 49.99", id="a bar code"),
        pytest.param("GST ID 001872379904", id="a tax number"),
        pytest.param("TOTAL 1,234.56", id="an amount"),
        pytest.param("TEL 03-9076 8160", id="a telephone number"),
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert card.redact(text, about_card=False) == text


def test_g8_on_a_line_about_a_card_any_long_number_is_one() -> None:
    assert card.redact("CARD NO 4556737586899854", about_card=True) == "CARD NO ************9854"


def test_g8_the_words_of_a_line_are_struck_out_as_well() -> None:
    [line] = card.redacted([make_line("VISA 4556 7375 8689 9855 paid")], VOCABULARY)

    assert [word.text for word in line.words] == ["VISA", "****", "****", "****", "9855", "paid"]


@pytest.mark.parametrize(
    ("above", "below", "kept"),
    [
        pytest.param(
            "VISA 4556 7375", "8689 9855 paid", ("VISA **** ****", "**** 9855 paid"), id="in half"
        ),
        pytest.param(
            "4556 7375 8689 98", "55", ("**** **** **** 98", "55"), id="inside the last four"
        ),
        pytest.param("4556", "737586899855", ("****", "********9855"), id="behind four digits"),
    ],
)
def test_g8_a_number_over_two_lines_is_struck_out(
    above: str, below: str, kept: tuple[str, str]
) -> None:
    lines = card.redacted(make_lines(above, below), VOCABULARY)

    assert tuple(line.text for line in lines) == kept


def test_numbers_below_each_other_are_no_card() -> None:
    texts = ("ITEM 4006825", "60772701 SPINDLE")

    lines = card.redacted(make_lines(*texts), VOCABULARY)

    assert tuple(line.text for line in lines) == texts


@given(
    number=st.sampled_from(["4556737586899855", "371449635398431", "5555555555554444"]),
    cut=st.integers(1, 14),
    separator=st.sampled_from(["", " "]),
)
def test_g8_a_number_split_anywhere_keeps_four_digits(
    number: str, cut: int, separator: str
) -> None:
    halves = (f"PAY {separator}{number[:cut]}", f"{number[cut:]} THANKS")

    lines = card.redacted(make_lines(*halves), VOCABULARY)

    left = "".join(mark for line in lines for mark in line.text if mark.isdigit())
    assert left == number[-4:]


@given(st.integers(10**11, 10**13 - 1))
def test_bar_codes_stay(code: int) -> None:
    text = f"{code} SPINDLE 49.99"

    assert card.redact(text, about_card=False) == text


@given(text=st.text(alphabet="0123456789 -*X", max_size=40), about_card=st.booleans())
def test_the_length_never_changes_and_no_digit_is_invented(text: str, *, about_card: bool) -> None:
    redacted = card.redact(text, about_card=about_card)

    assert len(redacted) == len(text)
    assert all(after in {before, "*"} for before, after in zip(text, redacted, strict=True))


@given(
    st.sampled_from([LUHN_VALID, "4000056655665556", "5555555555554444"]),
    st.sampled_from(["", " ", "-"]),
)
def test_g8_no_full_number_survives(number: str, separator: str) -> None:
    printed = separator.join(number[at : at + 4] for at in range(0, 16, 4))

    redacted = card.redact(f"VISA {printed} 12.00", about_card=True)

    assert not re.search(r"\d{5}", re.sub(r"[ \-]", "", redacted.replace("12.00", "")))
    assert number[-4:] in redacted


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
    assert card.last4(make_lines(*texts), VOCABULARY) == digits
