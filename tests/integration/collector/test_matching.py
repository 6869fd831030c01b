"""How receipts find their expenses."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from receipt_collector.store.expenses import MOST_CANDIDATES
from receipt_contract.results import Item, RunEventV1
from tests.integration.collector.books import Books
from tests.support.results import make_receipt, make_run

TEN = datetime(2026, 2, 27, 10, 0)  # noqa: DTZ001 - printed without a zone


def reading(source: int, **changes: Any) -> RunEventV1:
    """Return the first reading of a source."""
    return make_run(run=source, source=source, receipt=make_receipt(**changes))


def statuses(books: Books) -> list[str]:
    rows = books.rows("SELECT status FROM ingest.receipt_processing_status ORDER BY source_sha256")
    return [row["status"] for row in rows]


def expense_of(books: Books) -> list[int | None]:
    rows = books.rows("SELECT expense_pk FROM budget.receipt_evidence ORDER BY source_sha256")
    return [row["expense_pk"] for row in rows]


def instacart(books: Books) -> int:
    row = books.row(
        """
        INSERT INTO budget.expenses
          (source, order_id, order_date, transaction_datetime, store_name, expense_total)
        VALUES ('instacart', 'R-1001', '2026-02-27', '2026-02-27 09:30', 'Corner Shop', 30.90)
        RETURNING id
        """
    )
    return int(row["id"])


def add_others(books: Books, *, total: str) -> None:
    """Store more purchases of another shop than are compared."""
    books.looker.execute(
        """
        INSERT INTO budget.expenses (source, order_id, order_date, store_name, expense_total)
        SELECT 'instacart', 'other ' || number, '2026-02-27', 'Elsewhere', %(total)s
        FROM generate_series(1, %(number)s) AS number
        """,
        {"number": MOST_CANDIDATES + 1, "total": total},
    )


def test_a_second_scan_of_one_purchase_is_attached_to_its_expense(books: Books) -> None:
    books.apply(reading(1))
    books.apply(reading(2, receipt_id=None))

    first, second = expense_of(books)
    assert first == second
    assert books.count("budget.expenses") == 1
    link = books.row("SELECT * FROM budget.receipt_duplicate_links")
    assert (link["disposition"], link["resolution_status"]) == ("probable_duplicate", "auto_linked")
    assert statuses(books) == ["succeeded", "succeeded"]


def test_two_purchases_of_one_day_are_two_expenses(books: Books) -> None:
    books.apply(reading(1, receipt_id=None))
    books.apply(reading(2, receipt_id=None, transaction_datetime=TEN))

    assert books.count("budget.expenses") == 2
    assert statuses(books) == ["succeeded", "succeeded"]


def test_what_may_be_one_purchase_is_left_to_a_person(books: Books) -> None:
    books.apply(reading(1))
    unclear = reading(2, receipt_id=None, transaction_datetime=None, card_last4=None)
    books.apply(unclear)
    books.looker.execute("TRUNCATE ingest.receipts CASCADE")
    books.apply(unclear)

    assert books.count("budget.expenses") == 1
    assert expense_of(books)[1] is None
    link = books.row("SELECT * FROM budget.receipt_duplicate_links")
    assert (link["disposition"], link["resolution_status"]) == ("review", "pending")
    assert statuses(books) == ["review_required"]


def test_a_receipt_finds_the_order_it_belongs_to(books: Books) -> None:
    order = instacart(books)

    books.apply(reading(1))

    assert expense_of(books) == [order]
    assert books.count("budget.expenses") == 1


@pytest.mark.parametrize("day", [None, date(2026, 2, 27)])
def test_many_older_purchases_with_this_total_do_not_hide_the_newest(
    books: Books, day: date | None
) -> None:
    add_others(books, total="30.90")
    order = instacart(books)

    books.apply(reading(1, transaction_date=day, transaction_datetime=None))

    assert expense_of(books) == [order]


@pytest.mark.parametrize("day", [None, date(2026, 2, 27)])
def test_many_purchases_of_a_cent_less_do_not_hide_the_one_with_this_total(
    books: Books, day: date | None
) -> None:
    order = instacart(books)
    add_others(books, total="30.89")

    books.apply(reading(1, transaction_date=day, transaction_datetime=None))

    assert expense_of(books) == [order]


def test_a_new_reading_leaves_another_sources_expense_attached(books: Books) -> None:
    order = instacart(books)
    books.apply(reading(1))

    books.apply(make_run(run=2, request=1, receipt=make_receipt(total=Decimal("31.90"))))

    assert expense_of(books) == [order]
    assert books.count("budget.expenses") == 1
    assert books.evidence()["total"] == Decimal("31.90")


def test_a_receipt_without_a_total_makes_no_expense(books: Books) -> None:
    books.apply(reading(1, total=None))

    assert books.count("budget.expenses") == 0


def test_a_new_reading_renews_the_expense_and_keeps_its_categories(books: Books) -> None:
    books.apply(reading(1))
    books.looker.execute("INSERT INTO budget.budget_categories VALUES ('Groceries')")
    books.looker.execute(
        """
        UPDATE budget.expense_items SET budget_category = 'Groceries', category_source = 'manual'
        WHERE item_name = 'Milk 2L'
        """
    )

    items = (
        Item(item_name="Coffee beans", line_total=Decimal("25.00")),
        Item(item_name="MILK 2L", line_total=Decimal("3.09")),
    )
    books.apply(
        make_run(run=2, request=1, receipt=make_receipt(total=Decimal("30.95"), items=items))
    )

    expense = books.row("SELECT * FROM budget.expenses")
    assert expense["expense_total"] == Decimal("30.95")
    found = books.rows("SELECT * FROM budget.expense_items ORDER BY line_number")
    assert _pick(found, "item_name") == ["Coffee beans", "MILK 2L"]
    assert _pick(found, "budget_category") == [None, "Groceries"]
    assert _pick(found, "category_source") == [None, "manual"]


def test_equal_lines_of_a_receipt_are_all_kept(books: Books) -> None:
    coffee = Item(item_name="Coffee", line_total=Decimal("2.50"))

    books.apply(reading(1, items=(coffee, coffee)))

    assert books.count("budget.expense_items") == 2


def test_a_merchants_alias_is_stored_in_its_place(books: Books) -> None:
    books.looker.execute("INSERT INTO budget.merchant_aliases VALUES ('corner shop', 'The Corner')")

    books.apply(reading(1, merchant="CORNER SHOP #4"))

    assert books.evidence()["merchant"] == "The Corner"
    assert books.row("SELECT store_name FROM budget.expenses")["store_name"] == "The Corner"
    assert books.row("SELECT merchant FROM budget.receipt_ocr_runs")["merchant"] == "The Corner"


def _pick(rows: Sequence[dict[str, Any]], column: str) -> list[Any]:
    return [row[column] for row in rows]
