"""Masked card numbers that were read as letters: where their digits stand, and which are taken."""

import pytest

from receipt_worker.extraction import last_digits, masks
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.masks import Look, Masked
from tests.unit.worker.printed import LETTER_WIDTH, VOCABULARY, make_line

CARD = make_line("Kartenzahlung girocard", number=1)


def number(text: str, *, confidence: float = 30.0) -> Line:
    """Return a line with a label that was read well and a mask that was not."""
    label, *rest = make_line(text, number=2).words
    return Line(1, 2, (label, *(word._replace(confidence=confidence) for word in rest)))


def found(*lines: Line) -> Masked | None:
    return masks.find(lines, VOCABULARY)


@pytest.mark.parametrize(
    ("text", "suffix", "last"),
    [
        pytest.param("PAN HHHRHHRHHHHS 234", "234", 2, id="the first digit is one of the mask"),
        pytest.param("PAN HHH RH RHHS 234", "234", 4, id="a mask in pieces"),
        pytest.param("Nr. HHHRHHRHHHHS 234 0001", "234", 2, id="the number of the card in its row"),
        pytest.param("Karten-Nr. XXXXXXXXKKXXI TBS", "", 2, id="digits that were not read at all"),
        pytest.param("PAN HATEHH 1234 0000", "1234", 2, id="digits that were all read"),
    ],
)
def test_a_mask_that_was_read_as_letters_is_found(text: str, suffix: str, last: int) -> None:
    masked = found(CARD, number(text))

    assert masked is not None
    assert (masked.place, masked.first, masked.last, masked.suffix) == (1, 1, last, suffix)
    assert masked.right == number(text).words[last].box.right
    assert masked.letter_width == LETTER_WIDTH


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Karte ############234", id="in one piece"),
        pytest.param("PAN x xxxxxxx x 234", id="in pieces"),
        pytest.param("PAN ************ 234", id="digits apart"),
    ],
)
def test_a_mask_that_was_read_as_it_is_may_have_swallowed_a_digit(text: str) -> None:
    masked = found(CARD, number(text, confidence=95))

    assert masked is not None
    assert masked.suffix == "234"


def test_what_is_seen_besides_four_digits_is_left_of_them_and_short() -> None:
    masked = found(CARD, number("PAN HHHRHHRHHHHS 34"))
    assert masked is not None

    look = masks.look_of(["1234", "91234", "x1234", "1284", "234", "AA", "1234x", "881234"], masked)

    assert look.seen == ("1234", "1234", "1234")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param((CARD, number("PAN HHHHHHHHHS 234", confidence=95)), id="words read well"),
        pytest.param((CARD, number("PAN SUPERMARKT 234")), id="a word of many letters"),
        pytest.param((CARD, number("PAN HHHHHHHHHS 23.40")), id="an amount"),
        pytest.param((CARD, number("LOT HHHHHHHHHS 234")), id="behind another label"),
        pytest.param((number("Nr. HHHHHHHHHS 234"),), id="where nothing speaks of a card"),
    ],
)
def test_other_letters_are_no_mask(lines: tuple[Line, ...]) -> None:
    assert found(*lines) is None


SIX = ("1234",) * 6


@pytest.mark.parametrize(
    ("looks", "digits"),
    [
        pytest.param([Look(SIX, ""), Look(SIX[:4], "")], "1234", id="two places agree"),
        pytest.param([Look(SIX, "234")], "1234", id="one place, as the reading told"),
        pytest.param([Look(SIX, "4")], None, id="one place, and a reading that told little"),
        pytest.param([Look((*SIX, "8234"), "234")], None, id="one place with a doubt"),
        pytest.param([Look(SIX, "234"), Look(("8234",) * 6, "234")], None, id="places differ"),
        pytest.param(
            [Look(("1234",) * 4 + ("8234",) * 2, "")] * 2, None, id="a third saw something else"
        ),
        pytest.param([Look(SIX[:2], ""), Look(SIX[:2], "")], None, id="too few looks"),
        pytest.param([Look((), "234")], None, id="nothing seen"),
        pytest.param([], None, id="no place"),
    ],
)
def test_digits_are_taken_only_when_nearly_all_looks_agree(
    looks: list[Look], digits: str | None
) -> None:
    assert masks.agreed(looks) == digits


def test_what_a_look_gives_has_four_digits_that_end_as_the_reading_told() -> None:
    masked = found(CARD, number("PAN HHHRHHRHHHHS 234"))
    assert masked is not None

    look = masks.look_of(["1234", "11234", "234", "1284", "O234", "991234"], masked)

    assert look == Look(("1234", "1234"), "234")


def test_the_digits_stand_behind_a_mask_in_the_line() -> None:
    lines = (CARD, number("PAN HHH RH RHHS 234"))
    masked = found(*lines)
    assert masked is not None

    changed = masks.with_digits(lines, masked, "1234")

    assert [line.text for line in changed] == [CARD.text, "PAN ************1234"]
    assert changed[1].box == lines[1].box
    assert last_digits.last4(changed, VOCABULARY) == "1234"
