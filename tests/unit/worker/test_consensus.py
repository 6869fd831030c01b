"""The vote over readings, and the gate to `complete`."""

from dataclasses import replace
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
            [reading(*changed("05.03.2024", "05/03/2024"))] * 2,
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


def test_three_readings_without_dissent_outweigh_their_doubt() -> None:
    doubting = reading(*PROVEN, confidence=70)

    assert decide(doubting, doubting, doubting).extraction.status is ExtractionStatus.COMPLETE


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
