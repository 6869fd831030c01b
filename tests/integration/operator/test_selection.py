"""Which references fit the fields of a selector that only the database can judge."""

from datetime import date, datetime
from typing import Any

import pytest

from receipt_contract.requests import Selector
from receipt_operator.register import selection
from tests.integration.collector.books import Books
from tests.integration.operator.desk import Desk
from tests.support.requests import for_selector
from tests.support.results import make_receipt, make_run

pytestmark = pytest.mark.services

NAMES = ["complete.png", "review.png", "unreadable.png", "undated.png", "unknown.png"]


def _store(books: Books, number: int, name: str, **receipt: Any) -> None:
    books.apply(make_run(run=number, source=number, at=name, receipt=make_receipt(**receipt)))


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """Save one extraction of each status, a week apart, and one without a date."""
    _store(desk.books, 1, "complete.png", transaction_date=date(2026, 1, 1))
    review = {"extraction_status": "review", "review_reasons": ("total_missing",)}
    _store(desk.books, 2, "review.png", transaction_date=date(2026, 1, 8), **review)
    unreadable = {"extraction_status": "unreadable", "review_reasons": ("no_text",)}
    _store(desk.books, 3, "unreadable.png", transaction_date=date(2026, 1, 15), **unreadable)
    _store(desk.books, 4, "undated.png", transaction_date=None, transaction_datetime=None)
    for number, version, day in ((1, 10, 1), (2, 14, 2), (3, 15, 3), (4, 14, 4)):
        desk.books.looker.execute(
            "UPDATE budget.receipt_ocr_runs SET cache_version = %s, processed_at = %s"
            " WHERE source_sha256 = %s",
            (version, datetime.fromisoformat(f"2026-02-0{day}T00:00:00Z"), f"{number:064x}"),
        )
    return desk


async def _fitting(desk: Desk, **fields: Any) -> list[str]:
    selector = Selector.model_validate(for_selector(**fields)["target"]["selector"])
    found = await selection.fitting(desk.database, NAMES, selector)
    return [name.removesuffix(".png") for name in found]


@pytest.mark.parametrize(
    ("fields", "fitting"),
    [
        pytest.param(
            {"cache": "Any"},
            ["complete", "review", "unreadable", "undated", "unknown"],
            id="nothing for the database: all, also what was never read",
        ),
        pytest.param({"extractionStatus": ["review"]}, ["review"], id="one status"),
        pytest.param(
            {"extractionStatus": ["unreadable", "complete"]},
            ["complete", "unreadable", "undated"],
            id="two statuses",
        ),
        pytest.param({"cacheVersionBelow": 14}, ["complete"], id="an old cache version"),
        pytest.param(
            {"cacheVersionBelow": 15}, ["complete", "review", "undated"], id="a newer bound"
        ),
        pytest.param(
            {"processedBefore": "2026-02-02T00:00:00Z"}, ["complete"], id="the moment is excluded"
        ),
        pytest.param(
            {"processedBefore": "2026-02-02T00:00:00.001Z"},
            ["complete", "review"],
            id="just after the second",
        ),
        pytest.param(
            {"transactionDate": {"from": "2026-01-08"}}, ["review", "unreadable"], id="from a day"
        ),
        pytest.param(
            {"transactionDate": {"to": "2026-01-08"}}, ["complete", "review"], id="to a day"
        ),
        pytest.param(
            {"transactionDate": {"from": "2026-01-08", "to": "2026-01-08"}},
            ["review"],
            id="a day, both ends included",
        ),
        pytest.param(
            {"extractionStatus": ["complete"], "transactionDate": {"to": "2026-12-31"}},
            ["complete"],
            id="two fields have to fit both",
        ),
        pytest.param(
            {"extractionStatus": ["review"], "cacheVersionBelow": 14}, [], id="and may fit nothing"
        ),
    ],
)
async def test_references_fit(filled: Desk, fields: dict[str, Any], fitting: list[str]) -> None:
    assert await _fitting(filled, **fields) == fitting


async def test_the_last_run_of_a_receipt_counts(filled: Desk) -> None:
    _store_again = make_run(run=9, source=1, at="complete.png", request=7)
    filled.books.apply(_store_again)
    filled.books.looker.execute(
        "UPDATE budget.receipt_ocr_runs SET processed_at = '2026-03-01T00:00:00Z'"
        " WHERE run_uuid = %s",
        (_store_again.run_uuid,),
    )

    assert await _fitting(filled, cacheVersionBelow=14) == []
