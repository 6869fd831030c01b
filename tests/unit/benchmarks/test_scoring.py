"""How readings are judged against labels."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ocr import scoring
from benchmarks.ocr.labels import Collection, Label
from benchmarks.ocr.scoring import Measure
from receipt_contract.results import ExtractionStatus
from receipt_worker.document import Extraction, Reading

DAY = date(2024, 3, 5)


def make_label(**changes: Any) -> Label:
    """Return the label of a receipt with everything known."""
    known: dict[str, Any] = {
        "path": Path("some.jpg"),
        "collection": Collection.SROIE,
        "merchant": "Corner Shop Sdn Bhd",
        "day": DAY,
        "total": Decimal("30.90"),
        "card_digits": frozenset({"4242"}),
    }
    return Label(**{**known, **changes})


def make_reading(**changes: Any) -> Reading:
    """Return a reading that found all of it."""
    found: dict[str, Any] = {
        "status": ExtractionStatus.COMPLETE,
        "review_reasons": (),
        "confidence": Decimal(1),
        "merchant_name": "CORNER SHOP SDN. BHD.",
        "transaction_date": DAY,
        "total": Decimal("30.9"),
        "card_last4": "4242",
    }
    return Reading(Extraction(**{**found, **changes}), pages=(), passes=(), timings={})


def test_what_is_printed_is_right_however_it_is_written() -> None:
    score = scoring.score(make_label(), make_reading())

    assert all(score.right.values())
    assert set(score.right) == set(Measure) - {Measure.ITEMS}
    assert not score.misses


@pytest.mark.parametrize(
    ("label", "found", "measure"),
    [
        pytest.param({}, {"total": Decimal("3.09")}, Measure.TOTAL, id="another total"),
        pytest.param({}, {"transaction_date": None}, Measure.DATE, id="no date"),
        pytest.param({}, {"merchant_name": "Shop Corner"}, Measure.MERCHANT, id="another name"),
        pytest.param({}, {"card_last4": None}, Measure.CARD, id="no card digits"),
        pytest.param({"items_sum": Decimal("30.90")}, {}, Measure.ITEMS, id="no items"),
        pytest.param(
            {"collection": Collection.GERMAN, "merchant": "REWE"},
            {"merchant_name": "Markt GmbH"},
            Measure.MERCHANT,
            id="a name without its brand",
        ),
    ],
)
def test_a_value_that_differs_is_a_miss(
    label: dict[str, Any], found: dict[str, Any], measure: Measure
) -> None:
    score = scoring.score(make_label(**label), make_reading(**found))

    assert [miss.measure for miss in score.misses] == [measure]
    assert score.right[measure] is False


def test_a_brand_may_stand_anywhere_in_a_german_name() -> None:
    label = make_label(collection=Collection.GERMAN, merchant="REWE")

    score = scoring.score(label, make_reading(merchant_name="Rewe Markt GmbH"))

    assert score.right[Measure.MERCHANT]


@pytest.mark.parametrize(
    ("label", "found", "grave"),
    [
        pytest.param({}, {"total": Decimal("3.09")}, True, id="complete and wrong"),
        pytest.param(
            {}, {"total": None, "status": ExtractionStatus.REVIEW}, False, id="left for a person"
        ),
        pytest.param(
            {"is_total_doubtful": True}, {"total": Decimal("3.09")}, False, id="the label is wrong"
        ),
        pytest.param({}, {"merchant_name": None}, False, id="only the name is wrong"),
    ],
)
def test_only_a_wrong_total_or_date_shown_as_certain_is_grave(
    label: dict[str, Any], found: dict[str, Any], *, grave: bool
) -> None:
    score = scoring.score(make_label(**label), make_reading(**found))

    assert score.is_wrong_though_complete is grave


def test_card_digits_that_are_not_printed_are_invented() -> None:
    score = scoring.score(make_label(card_digits=frozenset()), make_reading())

    assert score.has_invented_card


def test_a_file_that_could_not_be_read_is_wrong_in_everything() -> None:
    score = scoring.score(make_label(), None)

    assert not any(score.right.values())
    assert {miss.reason for miss in score.misses} == {"not read at all"}
