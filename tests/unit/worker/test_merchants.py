"""Names of merchants as engines misread them: legal forms, split lines, drawings."""

import pytest

from receipt_contract.results import ExtractionStatus
from receipt_worker import consensus
from receipt_worker.extraction import names
from receipt_worker.extraction.lines import Box, Word, rows
from receipt_worker.extraction.receipt import read
from receipt_worker.rounds import PageReading, RoundReading
from tests.unit.worker.printed import ASSUMPTIONS, VOCABULARY, find, make_lines


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        pytest.param("ACME SON BHD", "ACME SDN BHD", id="a letter of one word"),
        pytest.param("ACME SDN. BHO", "ACME SDN. BHD", id="behind a point"),
        pytest.param("Acme Sdm Bhe", "Acme Sdn Bhd", id="a letter of each word"),
        pytest.param("Acme GmbR", "Acme GmbH", id="a German form"),
        pytest.param("ACME S/8", "ACME S/B", id="letters with a slash"),
        pytest.param("ACME $/B", "ACME S/B", id="a sign for a letter"),
        pytest.param("ACME SDNBHD", "ACME SDNBHD", id="glued together, but read right"),
        pytest.param("MR. D.1.¥. SDN BHD", "MR. D.I.Y. SDN BHD", id="an abbreviation"),
        pytest.param("ACME M0TOR LTD", "ACME MOTOR LTD", id="a digit inside a word"),
        pytest.param("ACME 24 SDN BHD", "ACME 24 SDN BHD", id="a number that is one"),
        pytest.param("7-ELEVEN LTD", "7-ELEVEN LTD", id="a number at the beginning"),
    ],
)
def test_a_legal_form_that_is_nearly_read_is_written_as_printed(read: str, printed: str) -> None:
    assert names.is_legal(read, VOCABULARY)
    assert names.put_right(read, VOCABULARY) == printed


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("SUNNY BED", id="words that are something else"),
        pytest.param("ACME S/W", id="letters that mean something else"),
        pytest.param("UNLIMITED", id="the end of a word"),
        pytest.param("ACME BAND", id="one abbreviation alone, misread"),
    ],
)
def test_what_is_no_legal_form_stays_as_it_is(name: str) -> None:
    assert not names.is_legal(name, VOCABULARY)
    assert names.put_right(name, VOCABULARY) == name


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        pytest.param(
            ["AIK HUAT HARDWARE", "ENTERPRISE (SETIA", "ALAM) SDN BHE", "NO 17 JALAN INDAH"],
            "AIK HUAT HARDWARE ENTERPRISE (SETIA ALAM) SDN BHD",
            id="over three lines, with a letter misread",
        ),
        pytest.param(
            ["EASTERN ENTERPRISE (SETIA", "ALAM)", "NO 17 JALAN INDAH"],
            "EASTERN ENTERPRISE (SETIA ALAM)",
            id="a bracket that closes on the next line",
        ),
        pytest.param(
            ["tan ah kow", "MR TOYS G4) SDN BHD", "LOT 1851"],
            "MR TOYS G4) SDN BHD",
            id="a bracket that nothing above opens",
        ),
        pytest.param(
            ["EASTERN LIGHT", "STTIONERY SDN BHD", "42 JALAN SULTAN"],
            "EASTERN LIGHT STTIONERY SDN BHD",
            id="a kind of shop with a letter lost",
        ),
        pytest.param(
            ["TAX INVOICE", "DINO'S PIZZA", "GST REF 12", "DINO'S PIZZA LAKE TOWN", "12 Lake Road"],
            "DINO'S PIZZA",
            id="the branch below is not the name",
        ),
        pytest.param(
            ["FUN N CHEER (MALURI)", "LOT 37636 JALAN 6"], "FUN N CHEER (MALURI)", id="the place"
        ),
        pytest.param(["FUN N CHEER (1234-K)", "LOT 37636"], "FUN N CHEER", id="a number"),
    ],
)
def test_a_name_is_made_whole(texts: list[str], name: str) -> None:
    found = find(*texts).merchant

    assert found is not None
    assert found.name == name


def test_a_drawing_read_as_a_short_legal_form_names_nobody() -> None:
    scrap = make_lines("Inall hom ax Ag", confidence=27)
    below = make_lines("", "Corner Lehr", "Detmolder Str. 4", "MwSt 1,00", "Summe 1,00")

    found = read((*scrap, *below[1:]), VOCABULARY, ASSUMPTIONS).merchant

    assert found is not None
    assert found.name == "Corner Lehr"


def test_a_drawing_that_says_the_same_speaks_for_the_line_below_it() -> None:
    drawing = make_lines("Spor Markt", confidence=40)
    below = make_lines("", "SPORT MARKT", "Rad und Ball GmbH Paderborn", "Pohlweg 110", "MwSt")

    found = read((*drawing, *below[1:]), VOCABULARY, ASSUMPTIONS).merchant

    assert found is not None
    assert found.name == "SPORT MARKT"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        pytest.param("Hel ere bane", 20, id="letters made of a drawing"),
        pytest.param("Company Reg #1101083-T", 95, id="a registration"),
    ],
)
def test_nobody_is_named_where_nothing_speaks_for_a_name(text: str, confidence: float) -> None:
    head = make_lines(text, confidence=confidence)

    found = read((*head, *make_lines("", "TOTAL 1,00")[1:]), VOCABULARY, ASSUMPTIONS)

    assert found.merchant is None


def test_specks_that_stand_apart_are_no_part_of_a_name() -> None:
    speck = Word("Hl", 20.0, Box(0, 24, 20, 20))
    words = (speck, *make_lines("YAM FRESH")[0].words)
    moved = [word._replace(box=word.box._replace(x=word.box.x + 90)) for word in words[1:]]

    found = read(rows([speck, *moved], page=1), VOCABULARY, ASSUMPTIONS).merchant

    assert found is not None
    assert found.name == "YAM FRESH"


def test_a_row_that_rises_stays_together() -> None:
    words = [
        Word("LIGHTROOM", 96.0, Box(161, 330, 179, 28)),
        Word("GALLERY", 86.0, Box(362, 318, 139, 37)),
        Word("SDN", 73.0, Box(520, 310, 66, 69)),
        Word("BHD", 96.0, Box(607, 301, 58, 32)),
    ]

    assert [line.text for line in rows(words, page=1)] == ["LIGHTROOM GALLERY SDN BHD"]


def test_the_name_that_is_most_like_the_other_readings_is_taken() -> None:
    readings = [
        _reading("Watson's Persomal Caxe Stoxes Sdn Bhd"),
        _reading("Wxtson's Personal Carz Stones Sdn Bhd"),
        _reading("Watson's Personal Care Stores Sdn Bhd"),
    ]

    extraction = consensus.decide(readings, signs=frozenset()).extraction

    assert extraction.status is ExtractionStatus.REVIEW
    assert extraction.merchant_name == "Watson's Personal Care Stores Sdn Bhd"


def _reading(name: str) -> RoundReading:
    lines = make_lines(name, "TOTAL 7.00")
    found = read(lines, VOCABULARY, ASSUMPTIONS)
    return RoundReading((PageReading(1, 1),), given=False, lines=lines, findings=found)
