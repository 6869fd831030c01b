"""Card numbers never get past the last four digits (promise G8)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_worker.extraction import card, last_digits
from tests.unit.worker.printed import VOCABULARY, make_line, make_lines

LUHN_VALID = "4556737586899855"
HOSTILE = 10_000  # letters of a line


def redacted(*texts: str) -> list[str]:
    return [line.text for line in card.redacted(make_lines(*texts), VOCABULARY)]


@pytest.mark.parametrize("texts", [[], ["TOTAL 5.00"], ["a", "b", "c"]])
def test_there_are_as_many_lines_as_before(texts: list[str]) -> None:
    assert redacted(*texts) == texts


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


@given(text=st.text(alphabet="0123456789 -*X.,/:xOS#_", max_size=40), about_card=st.booleans())
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
    ("text", "kept"),
    [
        pytest.param("Card No.4556737586899855", "Card No.************9855", id="a dot"),
        pytest.param("Karten-Nr.4556737586899855", "Karten-Nr.************9855", id="in German"),
        pytest.param("PAN,4556737586899855", "PAN,************9855", id="a comma"),
        pytest.param("Ref.4556737586899855", "Ref.************9855", id="where no card is named"),
        pytest.param("CARD NO ...4556737586899855", "CARD NO ...************9855", id="dots"),
        pytest.param("No.4556 7375 8689 9855", "No.**** **** **** 9855", id="a dot and groups"),
        pytest.param("No.3714 496353 98431", "No.**** ****** *8431", id="a dot and fifteen digits"),
        pytest.param(
            "Card No.4556 7375 8689 9855", "Card No.**** **** **** 9855", id="a card and groups"
        ),
    ],
)
def test_g8_a_number_behind_a_dot_or_comma_is_struck_out(text: str, kept: str) -> None:
    assert redacted(text) == [kept]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("VISA 45567375868998551227", "VISA ****************1227", id="twenty digits"),
        pytest.param(
            "VISA 4556\u20137375\u20138689\u20139855",
            "VISA ****\u2013****\u2013****\u20139855",
            id="long dashes",
        ),
        pytest.param("VISA 4556/7375/8689/9855", "VISA ****/****/****/9855", id="strokes"),
        pytest.param("VISA 4556,7375,8689,9855", "VISA ****,****,****,9855", id="commas"),
        pytest.param(
            "VISA 4556 - 7375 - 8689 - 9854", "VISA **** - **** - **** - 9854", id="hyphens apart"
        ),
        pytest.param("VISA 4556. 7375. 8689. 9855", "VISA ****. ****. ****. 9855", id="dots"),
        pytest.param("VISA 4556O37586899855", "VISA ************9855", id="a letter for a zero"),
        pytest.param(
            "VISA l556 7375 B689 98S5", "VISA **** **** **** 98S5", id="letters in every group"
        ),
        pytest.param(
            "AMERICAN EXPRESS 371449635398432", "AMERICAN EXPRESS ***********8432", id="a network"
        ),
        pytest.param("VISA 4556/7375/8689/9855 1227", "VISA ****/****/****/9855 ****", id="expiry"),
        pytest.param("VISA ***3714_496353_98431", "VISA *******_******_*8431", id="behind three"),
        pytest.param(
            "VISA 3714,496353,98431 ****", "VISA ****,******,*8431 ****", id="before four"
        ),
        pytest.param("VISA 2223OO31.22OO3222", "VISA ********.****3222", id="letters and a dot"),
        pytest.param("VISA 4SS6_737S_B6B9_9BSS", "VISA ****_****_****_9BSS", id="many letters"),
        pytest.param("VISA *4556737586899854", "VISA *************9854", id="behind an asterisk"),
        pytest.param(
            "VISA ** 4556 7375 8689-9854", "VISA ** **** **** ****-9854", id="behind two of them"
        ),
    ],
)
def test_g8_a_line_about_a_card_hides_every_form_of_its_number(text: str, kept: str) -> None:
    assert redacted(text) == [kept]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        pytest.param(
            ["2223003122003222"], ["************3222"], id="a number that starts with two"
        ),
        pytest.param(["4556 7375 86899855"], ["**** **** ****9855"], id="two groups and a run"),
        pytest.param(["45567375 86899855"], ["******** ****9855"], id="two halves"),
        pytest.param(["4556-7375 8689-9855"], ["****-**** ****-9855"], id="separators that differ"),
        pytest.param(
            ["4556 - 7375 - 8689 - 9855"], ["**** - **** - **** - 9855"], id="hyphens apart"
        ),
        pytest.param(["3056 930902 5904"], ["**** ****** 5904"], id="fourteen digits in groups"),
        pytest.param(["30569309025904"], ["**********5904"], id="fourteen digits"),
        pytest.param(
            ["4 5 5 6 7 3 7 5 8 6 8 9 9 8 5 5"],
            ["* * * * * * * * * * * * 9 8 5 5"],
            id="single digits",
        ),
        pytest.param(
            ["* 4556 7375 86899855 12.00"], ["* **** **** ****9855 12.00"], id="behind an asterisk"
        ),
        pytest.param(
            ["DE89 3704 0044 0532 0130 00 4556 7375 86899855"],
            ["DE89 3704 0044 0532 0130 00 **** **** ****9855"],
            id="behind the number of an account",
        ),
        pytest.param(
            ["2223 0031", "2200 3222"], ["**** ****", "**** 3222"], id="two lines, from two"
        ),
        pytest.param(
            ["4556", "7375", "8689", "9855"], ["****", "****", "****", "9855"], id="four lines"
        ),
        pytest.param(
            ["4556 7375 -", "8689 9855"], ["**** **** -", "**** 9855"], id="a hyphen at the end"
        ),
        pytest.param(
            ["VISA 4556 7375 8689", "9855"],
            ["VISA **** **** ****", "9855"],
            id="three groups above one",
        ),
        pytest.param(
            ["4556 7375", "8689 9855 12 paid"],
            ["**** ****", "**** 9855 12 paid"],
            id="a number behind it",
        ),
        pytest.param(
            ["4 5 5 6 7 3 7 5", "8 6 8 9 9 8 5 5"],
            ["* * * * * * * *", "* * * * 9 8 5 5"],
            id="single digits over two lines",
        ),
    ],
)
def test_g8_a_check_digit_tells_a_card_where_none_is_named(
    texts: list[str], kept: list[str]
) -> None:
    assert redacted(*texts) == kept


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("0.4556737586899855", id="a part of one"),
        pytest.param("VISA 0.4556737586899855", id="a part of one beside a card"),
        pytest.param("4556 7375 86899854", id="a wrong check digit"),
        pytest.param("2220003122003225", id="sixteen digits that no card starts with"),
        pytest.param("20240314101500 SPINDLE", id="a time stamp"),
        pytest.param("DE89 3704 0044 0532 0130 00", id="the number of an account"),
        pytest.param("AT611904300234573207", id="an account of digits"),
        pytest.param("IBAN AT61 1904 3002 3457 3201", id="an account in groups of four"),
        pytest.param("TEL +49 30 12345678", id="a telephone number"),
        pytest.param("UID ATU12345678", id="a tax number"),
        pytest.param("TID 54012345 TRACE 012345", id="a terminal and a trace"),
        pytest.param("VISA 12.34 EUR 14.03.2024 10:15 12345", id="a day beside a card"),
        pytest.param("VISA 2024-03-14 10:15 123456", id="a day as computers write it"),
        pytest.param("VISA 1.234.567 9.876.543", id="amounts with thousands beside a card"),
        pytest.param("VISA 12,50 7,50 20,00 40,00 60,00", id="amounts beside a card"),
        pytest.param("VISA 70.60 ****1234 12.00", id="amounts around a mask"),
        pytest.param("GIFT CARD 2 x 5.00", id="a count beside a card"),
        pytest.param("GIFT CARD 123456 2 x 5.00", id="a count behind a number beside a card"),
        pytest.param("GIFT CARD 123456 2x5.00", id="a count without spaces beside a card"),
        pytest.param("GIFT CARD 123456 #4711", id="another number beside a card"),
        pytest.param("VISA ........ 12.34", id="dots that lead to an amount"),
        pytest.param("19.00% 12.34 2.34 14.68 25.10", id="a row of taxes"),
    ],
)
def test_numbers_that_are_no_card_stay_on_every_line(text: str) -> None:
    assert redacted(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("**** 14-03-2024 10:15 ****", id="a day with hyphens"),
        pytest.param("**** 2024-03-14 ****", id="a day as computers write it"),
        pytest.param("#### 030-1234567", id="a telephone number"),
        pytest.param("**** 030-1234567 ****", id="a telephone number between marks"),
        pytest.param("**** 12345678 ****", id="a number between marks"),
        pytest.param("VISA **** 14-03-2024", id="a day beside a card"),
    ],
)
def test_decoration_is_no_mask(text: str) -> None:
    assert redacted(text) == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("VISA 4556737586**9855", "VISA ************9855", id="two marks"),
        pytest.param("VISA 45567375868*9855", "VISA ************9855", id="one mark"),
        pytest.param("VISA 455673***9855", "VISA *********9855", id="three marks"),
        pytest.param("VISA 45**9855", "VISA ****9855", id="two digits in front"),
        pytest.param("455673******985", "************985", id="three digits behind"),
        pytest.param("455673**********", "****************", id="none behind"),
        pytest.param("455673 ******", "****** ******", id="none behind a mask apart"),
        pytest.param("VISA 4556 73** **** ****", "VISA **** **** **** ****", id="in groups"),
        pytest.param("VISA 4556 73.. .... ....", "VISA **** **** **** ****", id="dots in groups"),
        pytest.param("VISA 455673......9855", "VISA ************9855", id="dots"),
        pytest.param("VISA 455673------9855", "VISA ************9855", id="hyphens"),
        pytest.param("VISA 455673______9855", "VISA ************9855", id="underlines"),
        pytest.param(
            "VISA 455673\u00b7\u00b7\u00b7\u00b7\u00b7\u00b79855",
            "VISA ************9855",
            id="dots of middle height",
        ),
        pytest.param("VISA 4556737586****9855", "VISA **************9855", id="ten digits before"),
        pytest.param("4556737586****9855", "**************9855", id="ten, where no card is named"),
        pytest.param("VISA ****8689 9855", "VISA ******** 9855", id="eight digits behind"),
        pytest.param("VISA ****1234 567890", "VISA ****1234 ******", id="six more behind"),
        pytest.param("VISA 3714496353#98431 0001", "VISA ************8431 0001", id="five behind"),
        pytest.param("****86899855 1", "********9855 *", id="eight digits and one more behind"),
        pytest.param("VISA ****1234 1225", "VISA ****1234 ****", id="when it expires"),
        pytest.param(
            "VISA ############6004 0000", "VISA ************6004 0000", id="the card in its row"
        ),
        pytest.param(
            "VISA ************1234 5678", "VISA ************1234 5678", id="behind a whole number"
        ),
    ],
)
def test_g8_no_digit_but_the_last_four_stays_beside_a_mask(text: str, kept: str) -> None:
    assert redacted(text) == [kept]


@pytest.mark.parametrize(
    "part",
    [
        *("1", "1 ", "*", "* ", "1*", "1 *", "x", "x ", "1-", "1.", "1. ", ". ", "- ", "_", "1O"),
        *("0.", "e ", "1/", "1:", "A1 ", "DE12 ", "1,111", "4556 ", "1x", "|1", "****1"),
        *("**** ****1234 ", "1---", "12345 *-", "1 - *"),
    ],
)
@pytest.mark.parametrize("end", ["", "a", "1", "*"])
def test_a_hostile_line_is_read_to_its_end(part: str, end: str) -> None:
    text = (part * HOSTILE)[:HOSTILE] + end

    lines = make_lines(f"VISA {text}", text)
    hidden = card.redacted(lines, VOCABULARY)

    assert [len(line.text) for line in hidden] == [len(line.text) for line in lines]
    last_digits.last4(lines, VOCABULARY)
