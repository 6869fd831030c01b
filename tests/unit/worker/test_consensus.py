"""The vote over readings, and the gate to `complete`."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from receipt_contract.results import ExtractionStatus
from receipt_worker import consensus
from receipt_worker.consensus import Decision
from receipt_worker.document import ReviewReason
from receipt_worker.rounds import PageReading, RoundReading
from tests.unit.worker.printed import find, make_lines

PROVEN = ("CORNER SHOP", "Date 05.03.2024 12:30", "TOTAL EUR 29.30", "CASH 50.00", "CHANGE 20.70")


def reading(*texts: str, given: bool = False, confidence: float = 95.0) -> RoundReading:
    return RoundReading(
        pages=(PageReading(page=1, pass_id=1),),
        given=given,
        lines=make_lines(*texts, confidence=confidence),
        findings=find(*texts, confidence=confidence),
    )


def decide(*readings: RoundReading, signs: frozenset[ReviewReason] = frozenset()) -> Decision:
    return consensus.decide(readings, signs=signs)


def changed(old: str, new: str) -> tuple[str, ...]:
    """Return the proven receipt with one line printed otherwise."""
    return tuple(text.replace(old, new) for text in PROVEN)


def without(word: str) -> tuple[str, ...]:
    return tuple(text for text in PROVEN if word not in text)


def test_a_proven_total_and_a_date_read_clearly_twice_are_complete() -> None:
    extraction = decide(reading(*PROVEN), reading(*PROVEN)).extraction

    assert extraction.status is ExtractionStatus.COMPLETE
    assert not extraction.review_reasons
    assert (extraction.total, extraction.currency) == (Decimal("29.30"), "EUR")
    assert 0 < extraction.confidence <= 1


def test_a_text_layer_is_believed_once() -> None:
    assert decide(reading(*PROVEN, given=True)).extraction.status is ExtractionStatus.COMPLETE


@pytest.mark.parametrize(
    ("readings", "reason"),
    [
        pytest.param([reading(*PROVEN)], ReviewReason.PASSES_DISAGREE, id="read only once"),
        pytest.param(
            [reading(*PROVEN, confidence=70), reading(*PROVEN, confidence=70)],
            ReviewReason.PASSES_DISAGREE,
            id="a date read twice with doubt",
        ),
        pytest.param(
            [reading(*PROVEN), reading(*changed("05.03", "08.03"))],
            ReviewReason.DATE_AMBIGUOUS,
            id="a date read in two ways",
        ),
        pytest.param(
            [reading(*(t.replace("05.03.", "05/03/").replace("EUR", "USD") for t in PROVEN))] * 2,
            ReviewReason.DATE_AMBIGUOUS,
            id="day and month could change places",
        ),
        pytest.param(
            [reading(*without("CASH"))] * 2, ReviewReason.TOTAL_UNPROVEN, id="a total alone"
        ),
        pytest.param(
            [reading(*changed("20.70", "20.10"))] * 2,
            ReviewReason.IDENTITY_FAILED,
            id="change that does not fit",
        ),
        pytest.param(
            [
                reading(*PROVEN),
                reading(*(t.replace("29.30", "29.80").replace("20.70", "20.20") for t in PROVEN)),
            ],
            ReviewReason.PASSES_DISAGREE,
            id="two totals that are both proven",
        ),
        pytest.param(
            [reading(*changed("EUR ", ""))] * 2, ReviewReason.CURRENCY_UNKNOWN, id="no currency"
        ),
        pytest.param([reading(*without("Date"))] * 2, ReviewReason.MISSING_FIELD, id="no date"),
        pytest.param([reading(*without("SHOP"))] * 2, ReviewReason.MISSING_FIELD, id="no merchant"),
        pytest.param(
            [reading("CORNER SHOP", "Date 05.03.2024 12:30", "TOTAL EUR -29.30")] * 2,
            ReviewReason.POSSIBLE_REFUND,
            id="a negative total",
        ),
    ],
)
def test_doubt_goes_to_a_person(readings: list[RoundReading], reason: ReviewReason) -> None:
    extraction = decide(*readings).extraction

    assert extraction.status is ExtractionStatus.REVIEW
    assert reason in extraction.review_reasons


def by(engine: str, *texts: str, confidence: float = 95.0) -> RoundReading:
    return replace(reading(*texts, confidence=confidence), engine=engine)


UNPROVEN = ("CORNER SHOP", "Date 05.03.2024 12:30", "TOTAL EUR 29.30", "CASH 29.30")


def test_two_engines_prove_a_total_that_is_printed_twice() -> None:
    extraction = decide(by("tesseract", *UNPROVEN), by("rapidocr", *UNPROVEN)).extraction

    assert extraction.status is ExtractionStatus.COMPLETE
    assert "engines_agree" in extraction.fields["total"].evidence


def test_readings_of_one_engine_that_agree_prove_no_total() -> None:
    extraction = decide(*[by("tesseract", *UNPROVEN)] * 3).extraction

    assert extraction.review_reasons == (ReviewReason.TOTAL_UNPROVEN,)


def test_two_engines_that_agree_do_not_outweigh_an_identity_that_fails() -> None:
    texts = changed("20.70", "20.10")

    extraction = decide(by("tesseract", *texts), by("rapidocr", *texts)).extraction

    assert ReviewReason.IDENTITY_FAILED in extraction.review_reasons


def test_a_failed_identity_in_one_reading_yields_to_the_same_one_that_holds_in_another() -> None:
    misread = by("tesseract", *changed("20.70", "20.10"))

    extraction = decide(misread, by("rapidocr", *PROVEN)).extraction

    assert extraction.status is ExtractionStatus.COMPLETE


def test_a_date_that_two_engines_read_is_not_disputed_by_a_misreading() -> None:
    misread = by("tesseract", *changed("05.03", "08.03"))

    extraction = decide(misread, by("rapidocr", *PROVEN), by("tesseract", *PROVEN)).extraction

    assert extraction.status is ExtractionStatus.COMPLETE


def test_a_date_in_running_text_is_no_rival_of_the_labelled_one() -> None:
    texts = (*PROVEN, "a paper", "since", "our petition of 28.01.2024 is open")

    extraction = decide(by("tesseract", *texts), by("rapidocr", *texts)).extraction

    assert extraction.status is ExtractionStatus.COMPLETE


def test_a_second_date_with_a_time_that_two_engines_saw_is_a_rival() -> None:
    texts = (*PROVEN, "CLOSED 06.03.2024 00:32")

    extraction = decide(by("tesseract", *texts), by("rapidocr", *texts)).extraction

    assert extraction.review_reasons == (ReviewReason.DATE_AMBIGUOUS,)


@pytest.mark.parametrize(
    ("confidence", "status"),
    [(99.0, ExtractionStatus.COMPLETE), (90.0, ExtractionStatus.REVIEW)],
    ids=["read without doubt", "read with doubt"],
)
def test_a_date_only_the_second_engine_saw_counts_when_it_is_clear(
    confidence: float, status: ExtractionStatus
) -> None:
    blind = by("tesseract", *without("Date"))

    extraction = decide(blind, by("rapidocr", *PROVEN, confidence=confidence)).extraction

    assert extraction.status is status


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param("AS-Zeit 05.03. 12:30", id="a day without its year"),
        pytest.param("Printed 05.03. 202", id="a year that is cut off"),
        pytest.param("Printed 05.63.2024", id="a month that is none"),
    ],
)
def test_what_looks_like_a_date_helps_to_choose_one(trace: str) -> None:
    right = reading(*PROVEN, confidence=75)
    wrong = reading(*changed("05.03", "08.03"), confidence=85)
    traced = reading(*without("Date"), trace)

    assert decide(right, wrong, traced).extraction.transaction_date == date(2024, 3, 5)
    assert decide(right, wrong).extraction.transaction_date == date(2024, 3, 8)


def test_a_date_read_surely_once_beats_one_that_was_guessed_twice() -> None:
    guessed = reading(*changed("05.03", "08.03"), confidence=10)

    found = decide(guessed, guessed, reading(*PROVEN, confidence=60)).extraction

    assert found.transaction_date == date(2024, 3, 5)
    assert ReviewReason.DATE_AMBIGUOUS in found.review_reasons


def test_a_larger_total_of_another_reading_disputes_what_only_its_parts_prove() -> None:
    paid = ("CORNER SHOP", "Date 05.03.2024 12:30", "Subtotal 19.25", "Tax 1.59", "TOTAL EUR 20.84")
    whole = reading(*paid[:2], "GRAND TOTAL EUR 24.84")

    agreed, disputed = [reading(*paid)] * 2, [reading(*paid), reading(*paid), whole]

    assert decide(*agreed).extraction.status is ExtractionStatus.COMPLETE
    assert decide(*disputed).extraction.review_reasons == (ReviewReason.PASSES_DISAGREE,)


def test_the_sum_before_tax_does_not_dispute_the_total() -> None:
    bought = ("CORNER SHOP", "Date 05.03.2024 12:30", "Tea 26.00", "Rice 26.00", "TOTAL EUR 52.00")
    whole = reading(*bought, "TAX 3.10", "GRAND TOTAL EUR 55.10")
    cut_off = reading(*bought, "TAX 3.10", "GRAND T")

    extraction = decide(whole, cut_off).extraction

    assert (extraction.total, extraction.status) == (Decimal("55.10"), ExtractionStatus.COMPLETE)


AGAIN = (*PROVEN, "Printed 05.03.2024 12:31")


@pytest.mark.parametrize(
    ("misread", "status"),
    [
        pytest.param(
            (*PROVEN, "Printed 05.08.2024 12:31"), ExtractionStatus.COMPLETE, id="the same print"
        ),
        pytest.param(
            (*PROVEN, "Printed", "05.08.2024 12:31"),
            ExtractionStatus.REVIEW,
            id="at another place",
        ),
        pytest.param(
            (*PROVEN, "Printed 16.08.2024 12:31"), ExtractionStatus.REVIEW, id="more than a digit"
        ),
    ],
)
def test_a_second_print_that_one_reading_misread_is_no_other_date(
    misread: tuple[str, ...], status: ExtractionStatus
) -> None:
    extraction = decide(reading(*misread), reading(*AGAIN), reading(*AGAIN)).extraction

    assert (extraction.transaction_date, extraction.status) == (date(2024, 3, 5), status)


def test_items_come_from_the_reading_in_which_they_add_up() -> None:
    right = ("SHOP", "Tea 3.00", "Rice 4.10", "TOTAL 7.10", "CASH 10.00", "CHANGE 2.90")
    wrong = tuple(text.replace("3.00", "8.00") for text in right)

    extraction = decide(by("rapidocr", *wrong), by("tesseract", *right)).extraction

    assert sum(item.total for item in extraction.items) == Decimal("7.10")


def test_confidence_grows_with_evidence() -> None:
    alone = decide(by("tesseract", *without("CASH"))).extraction.fields["total"]
    proven = decide(by("tesseract", *PROVEN), by("rapidocr", *PROVEN)).extraction.fields["total"]

    assert alone.confidence < proven.confidence <= 1


def test_three_readings_without_dissent_outweigh_their_doubt() -> None:
    doubting = reading(*PROVEN, confidence=70)

    assert decide(doubting, doubting, doubting).extraction.status is ExtractionStatus.COMPLETE


def test_readings_of_the_same_picture_are_one_witness_of_a_date() -> None:
    one, other = (replace(reading(*PROVEN), variant=variant) for variant in ("grey", "even_scaled"))

    assert decide(one, one).extraction.review_reasons == (ReviewReason.PASSES_DISAGREE,)
    assert decide(one, other).extraction.status is ExtractionStatus.COMPLETE


def test_a_picture_read_twice_has_one_vote() -> None:
    twice = replace(reading(*changed("05.03", "08.03"), confidence=85), variant="even_scaled")
    others = [
        replace(reading(*PROVEN, confidence=60), variant=variant) for variant in ("grey", "crop")
    ]

    found = decide(twice, twice, *others).extraction

    assert found.transaction_date == date(2024, 3, 5)


def test_a_proven_total_beats_two_that_agree() -> None:
    agreed = reading(*changed("TOTAL EUR 29.30", "TOTAL EUR 29.80"))

    extraction = decide(agreed, agreed, reading(*PROVEN)).extraction

    assert extraction.total == Decimal("29.30")


@pytest.mark.parametrize("sign", [ReviewReason.MULTIPLE_RECEIPTS, ReviewReason.LOW_TEXT])
def test_a_sign_in_the_pages_prevents_complete(sign: ReviewReason) -> None:
    extraction = decide(reading(*PROVEN), reading(*PROVEN), signs=frozenset({sign})).extraction

    assert extraction.review_reasons == (sign,)


def test_what_cannot_be_read_has_no_values() -> None:
    extraction = decide(reading(*PROVEN), signs=frozenset({ReviewReason.UNREADABLE})).extraction

    assert extraction.status is ExtractionStatus.UNREADABLE
    assert (extraction.total, extraction.merchant_name, extraction.fields) == (None, None, {})


def test_each_value_names_its_place_its_pass_and_its_evidence() -> None:
    second = replace(reading(*PROVEN), pages=(PageReading(page=1, pass_id=2),))

    field = decide(reading(*without("CASH")), second).extraction.fields["total"]

    assert (field.value, field.pass_id, field.page) == ("29.30", 2, 1)
    assert "paid_minus_change" in field.evidence
    assert field.box is not None


def test_digits_of_a_card_that_readings_see_differently_are_left_out() -> None:
    one, other = ((*PROVEN, f"VISA ****{digits}") for digits in ("4242", "4243"))

    assert decide(reading(*one), reading(*other)).extraction.card_last4 is None
