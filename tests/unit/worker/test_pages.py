"""Rows of words, text layers, and signs of more than one receipt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_worker import layer, multiple
from receipt_worker.extraction import lines
from receipt_worker.extraction.lines import Box, Word
from tests.unit.worker.printed import VOCABULARY, find, make_lines

RECEIPT = ("CORNER SHOP", "1 Market Street", "Date 05.03.2024 12:30", "Tea 3.00", "TOTAL 30.90")
OTHER = ("OTHER SHOP", "2 Market Street", "Date 06.03.2024 12:30", "Jam 4.00", "TOTAL 12.10")


def word(text: str, x: int, y: int, *, height: int = 20) -> Word:
    return Word(text, 90.0, Box(x, y, 10 * len(text), height))


def side_by_side(left: tuple[str, ...], right: tuple[str, ...], *, gap: int) -> list[Word]:
    """Return the words of two columns, each line three times."""
    words = []
    for number, (one, other) in enumerate(zip(left * 3, right * 3, strict=True)):
        for text, start in ((one, 0), (other, 300 + gap)):
            x = start
            for part in text.split():
                words.append(word(part, x, 30 * number))
                x += 10 * len(part) + 5
    return words


def test_a_label_and_its_amount_far_away_share_a_row() -> None:
    found = lines.rows([word("30.90", 400, 103), word("TOTAL", 0, 100)], page=1)

    assert [line.text for line in found] == ["TOTAL 30.90"]


def test_rows_run_from_top_to_bottom() -> None:
    found = lines.rows([word("b", 0, 60), word("c", 0, 90), word("a", 0, 30)], page=2)

    assert [(line.page, line.number, line.text) for line in found] == [
        (2, 1, "a"),
        (2, 2, "b"),
        (2, 3, "c"),
    ]


def test_a_slightly_turned_row_stays_together() -> None:
    words = [word(str(number), 60 * number, 100 + 3 * number) for number in range(8)]

    assert len(lines.rows(words, page=1)) == 1


@given(st.lists(st.text(max_size=8), max_size=8))
def test_what_nobody_can_see_is_dropped_with_the_words_it_leaves_empty(texts: list[str]) -> None:
    words = [word(text, 100 * number, 0) for number, text in enumerate(texts)]

    found = lines.cleaned(lines.rows(words, page=1))

    left = [word.text for line in found for word in line.words]
    assert all(text and text.isprintable() for text in left)
    assert "".join(left) == "".join(mark for text in texts for mark in text if mark.isprintable())


def test_the_confidence_of_a_part_is_that_of_its_worst_word() -> None:
    [line] = lines.rows(
        [word("Date", 0, 0), word("05.03.24", 60, 0)._replace(confidence=55)], page=1
    )

    assert (line.confidence_of(range(4)), line.confidence_of(range(5, 13))) == (90, 55)


@pytest.mark.parametrize(
    ("text", "usable"),
    [
        pytest.param("Corner Shop, 1 Market Street, total 30.90 EUR", True, id="text"),
        pytest.param("Corner Shop", False, id="too little of it"),
        pytest.param("\ue001\ue002" * 30, False, id="signs without a meaning"),
        pytest.param("\ufffd" * 60, False, id="replacement marks"),
        pytest.param("#!%&*" * 20, False, id="no letters"),
    ],
)
def test_a_text_layer_is_used_when_it_is_text(text: str, *, usable: bool) -> None:
    assert layer.is_usable(make_lines(text), has_pictures=False) is usable


@pytest.mark.parametrize(
    ("text", "usable"),
    [
        pytest.param("Read by some program of www.some-scanner.com", False, id="a stamp"),
        pytest.param("Corner Shop, 1 Market Street, total 30.90 EUR", True, id="with an amount"),
        pytest.param("Corner Shop, 1 Market Street, on 05/03/2024", True, id="with a date"),
    ],
)
def test_over_a_picture_a_text_layer_has_to_hold_a_value(text: str, *, usable: bool) -> None:
    assert layer.is_usable(make_lines(text), has_pictures=True) is usable


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(side_by_side(RECEIPT, OTHER, gap=60), True, id="two receipts"),
        pytest.param(
            side_by_side(RECEIPT, ("7.00", "8.00", "9.00", "1.00", "2.00"), gap=60),
            False,
            id="amounts in a column of their own",
        ),
        pytest.param(side_by_side(RECEIPT, OTHER, gap=-110), False, id="no white between them"),
    ],
)
def test_two_receipts_side_by_side_are_seen(words: list[Word], *, expected: bool) -> None:
    assert multiple.two_columns(words, VOCABULARY) is expected


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        pytest.param([RECEIPT, OTHER], True, id="two receipts"),
        pytest.param([RECEIPT, RECEIPT], False, id="the same one twice"),
        pytest.param([RECEIPT[:3], RECEIPT[3:]], False, id="one cut in two"),
    ],
)
def test_two_receipts_on_two_pages_are_seen(
    pages: list[tuple[str, ...]], *, expected: bool
) -> None:
    assert multiple.two_pages([find(*page) for page in pages]) is expected
