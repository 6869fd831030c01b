"""Whether two receipts are one purchase."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from receipt_collector import matching
from receipt_collector.matching import Candidate, Disposition, Facts, Likeness, Resolution

NINE = datetime(2026, 2, 27, 9, 0)  # noqa: DTZ001 - printed without a zone
SHOP = Facts("R-1001", Decimal("30.90"), "Corner Shop", "4242", NINE.date(), NINE)


def but(**changes: Any) -> Facts:
    return SHOP._replace(**changes)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        pytest.param(SHOP, SHOP, Likeness.SAME, id="everything equal"),
        pytest.param(
            but(receipt_id=None),
            SHOP,
            Likeness.SAME,
            id="no number on one side, but the same minute",
        ),
        pytest.param(
            but(receipt_id="R-IOO1"),
            SHOP,
            Likeness.SAME,
            id="a number with characters that OCR confuses",
        ),
        pytest.param(
            but(merchant="CORNER SHOP No. 7 Ltd"),
            SHOP,
            Likeness.SAME,
            id="a branch behind the name",
        ),
        pytest.param(but(receipt_id="R-2002"), SHOP, Likeness.DISTINCT, id="two numbers"),
        pytest.param(
            but(receipt_id=None, moment=NINE.replace(hour=10)),
            SHOP,
            Likeness.DISTINCT,
            id="two coffees an hour apart",
        ),
        pytest.param(
            but(receipt_id=None, card_last4="1111"), SHOP, Likeness.DISTINCT, id="two cards"
        ),
        pytest.param(but(total=Decimal("30.92")), SHOP, Likeness.DISTINCT, id="two totals"),
        pytest.param(
            but(total=Decimal("30.91"), receipt_id=None), SHOP, Likeness.SAME, id="a cent apart"
        ),
        pytest.param(
            but(receipt_id=None, moment=None, card_last4=None),
            SHOP,
            Likeness.UNSURE,
            id="shop, day and total, but no time",
        ),
        pytest.param(
            but(receipt_id=None, moment=None),
            SHOP,
            Likeness.UNSURE,
            id="shop, day, total and card, but no time",
        ),
        pytest.param(
            but(moment=NINE.replace(hour=21)),
            SHOP,
            Likeness.SAME,
            id="the same number at another time: one of them is misread",
        ),
        pytest.param(
            but(receipt_id=None, merchant=None, moment=None, card_last4=None),
            SHOP,
            Likeness.DISTINCT,
            id="day and total alone say nothing",
        ),
        pytest.param(
            Facts(None, Decimal("30.90"), None, None, None, None),
            SHOP,
            Likeness.DISTINCT,
            id="a total alone says nothing",
        ),
        pytest.param(
            Facts(None, None, None, None, None, None), SHOP, Likeness.DISTINCT, id="nothing known"
        ),
    ],
)
def test_comparing(one: Facts, other: Facts, likeness: Likeness) -> None:
    assert matching.compare(one, other).likeness is likeness
    assert matching.compare(other, one).likeness is likeness


def test_a_receipt_without_candidates_is_a_new_purchase() -> None:
    assert matching.match(SHOP, [], evidence_id=1) == matching.NEW_PURCHASE


def test_a_certain_match_is_attached_and_linked() -> None:
    found = matching.match(SHOP, [Candidate(7, 3, SHOP)], evidence_id=9)

    assert (found.expense_pk, found.unsure) == (7, False)
    (link,) = found.links
    assert link.disposition is Disposition.EXACT_DUPLICATE
    assert link.resolution is Resolution.AUTO_LINKED
    assert (link.evidence_id, link.other_evidence_id) == (9, 3)
    assert link.reasons == ("receipt_id", "total", "merchant", "card", "moment")


def test_a_match_without_evidence_is_attached_and_not_linked() -> None:
    found = matching.match(SHOP, [Candidate(7, None, SHOP)], evidence_id=9)

    assert (found.expense_pk, found.links) == (7, ())


@pytest.mark.parametrize(
    "candidates",
    [
        pytest.param([Candidate(7, 3, SHOP), Candidate(8, 4, SHOP)], id="two that fit alike"),
        pytest.param([Candidate(7, 3, but(receipt_id=None, moment=None))], id="one that may fit"),
    ],
)
def test_what_is_not_certain_is_left_to_a_person(candidates: list[Candidate]) -> None:
    found = matching.match(SHOP, candidates, evidence_id=9)

    assert found.unsure
    assert found.expense_pk is None
    assert [link.other_evidence_id for link in found.links] == [3, 4][: len(candidates)]


def test_one_uncertain_candidate_waits_for_a_person() -> None:
    found = matching.match(
        SHOP, [Candidate(7, 3, but(receipt_id=None, moment=None))], evidence_id=9
    )

    (link,) = found.links
    assert (link.disposition, link.resolution) == (Disposition.REVIEW, Resolution.PENDING)


@pytest.mark.parametrize(
    ("name", "resolved"),
    [
        pytest.param("SOBEYS #123", "Sobeys", id="a word of the name"),
        pytest.param("Sobeys  Extra Foods", "Sobeys Extra", id="the longest alias wins"),
        pytest.param("Sobeysville", "Sobeysville", id="no part of a word"),
        pytest.param("Corner Shop", "Corner Shop", id="no alias"),
        pytest.param(None, None, id="no name"),
    ],
)
def test_aliases(name: str | None, resolved: str | None) -> None:
    aliases = {"sobeys": "Sobeys", "Sobeys Extra": "Sobeys Extra", "": "Nothing"}

    assert matching.resolve_merchant(name, aliases) == resolved


def test_days_decide_where_no_time_is_printed() -> None:
    other = but(receipt_id=None, moment=None, day=date(2026, 2, 28))

    assert matching.compare(but(receipt_id=None), other).likeness is Likeness.DISTINCT
