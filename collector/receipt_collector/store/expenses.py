"""Expenses, their items, and the links between receipts that may be the same purchase."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from receipt_collector.items import ItemRow
from receipt_collector.matching import Candidate, Facts, Link
from receipt_collector.store.database import Connection
from receipt_contract import wire
from receipt_contract.results import ExtractionStatus

MOST_CANDIDATES = 50

_OTHER = "source_sha256 IS DISTINCT FROM %(sha256)s"
_OF_TOTAL = "expense_total BETWEEN %(total)s - 0.01 AND %(total)s + 0.01"
# There may be any number of them, so a few of each total, for which the index need not be read on.
# BETWEEN, as with = the order of ids alone would do, and then all ids may be gone through.
_WITH_TOTAL = f"""
    SELECT found.* FROM (VALUES (0), (-0.01), (0.01)) AS by (difference)
    CROSS JOIN LATERAL (
      SELECT * FROM budget.expenses
      WHERE {_OTHER}
        AND expense_total BETWEEN %(total)s + by.difference AND %(total)s + by.difference
      ORDER BY expense_total DESC, id DESC LIMIT %(limit)s
    ) AS found
"""  # noqa: S608 - a condition of ours
# An OR would have all expenses with this total looked through; each of these has its index.
_WITH_TOTAL_AND_DAY = f"""
    SELECT * FROM budget.expenses WHERE {_OTHER} AND id IN (
      SELECT id FROM budget.expenses WHERE order_date = %(day)s AND {_OF_TOTAL}
      UNION
      SELECT id FROM budget.expenses WHERE transaction_datetime::date = %(day)s AND {_OF_TOTAL}
    )
    OFFSET 0
"""  # noqa: S608 - conditions of ours


class ScannedExpense(NamedTuple):
    """An expense made from one scanned receipt."""

    source_sha256: str
    source_reference: str
    order_date: date | None
    transaction_datetime: datetime | None
    store_name: str | None
    subtotal: Decimal | None
    tax: Decimal | None
    total: Decimal | None
    payment_method: str | None
    card_last4: str | None
    payer: str | None
    extraction_status: ExtractionStatus
    extraction_confidence: Decimal | None


def own(connection: Connection, sha256: str) -> int | None:
    """Return the expense that was made from this source, or None."""
    row = connection.execute(
        """
        SELECT id FROM budget.expenses
        WHERE source = 'scanned' AND source_sha256 = %(sha256)s
        """,
        {"sha256": sha256},
    ).fetchone()
    return None if row is None else int(row[0])


def candidates(connection: Connection, facts: Facts, *, sha256: str) -> list[Candidate]:
    """Return expenses of other sources with this total, of this day where the day is known.

    Where there are more than `MOST_CANDIDATES`, those with just this total come first, and of them
    the newest: a second scan is made soon.
    """
    rows = connection.execute(
        f"""
        SELECT
          expenses.id, evidence.id,
          coalesce(evidence.receipt_id,
                   CASE WHEN expenses.source <> 'scanned' THEN expenses.order_id END),
          expenses.expense_total, expenses.store_name, expenses.card_last4,
          coalesce(expenses.transaction_datetime::date, expenses.order_date),
          expenses.transaction_datetime
        FROM (
          SELECT * FROM ({_WITH_TOTAL if facts.day is None else _WITH_TOTAL_AND_DAY}) AS found
          ORDER BY expense_total <> %(total)s, id DESC LIMIT %(limit)s
        ) AS expenses
        LEFT JOIN LATERAL (
          SELECT id, receipt_id FROM budget.receipt_evidence
          WHERE expense_pk = expenses.id ORDER BY is_primary_source DESC, id LIMIT 1
        ) AS evidence ON true
        ORDER BY expenses.id
        """,  # noqa: S608 - statements of ours
        {"sha256": sha256, "total": facts.total, "day": facts.day, "limit": MOST_CANDIDATES},
    ).fetchall()
    return [Candidate(row[0], row[1], Facts(*row[2:])) for row in rows]


def upsert_scanned(connection: Connection, expense: ScannedExpense) -> int:
    """Make or renew the expense of a source and return its key."""
    row = connection.execute(
        """
        INSERT INTO budget.expenses (
          source, order_id, receipt_filename, order_date, transaction_datetime, store_name,
          receipt_item_subtotal, receipt_tax, receipt_total_charged, expense_total,
          source_reference, source_sha256, payment_method, card_last4, payer, extraction_status,
          extraction_confidence
        ) VALUES (
          'scanned', 'scan:' || %(source_sha256)s::text, %(source_reference)s, %(order_date)s,
          %(transaction_datetime)s, %(store_name)s, %(subtotal)s, %(tax)s, %(total)s, %(total)s,
          %(source_reference)s, %(source_sha256)s, %(payment_method)s, %(card_last4)s, %(payer)s,
          %(extraction_status)s, %(extraction_confidence)s
        )
        ON CONFLICT (source, order_id) DO UPDATE SET
          receipt_filename = EXCLUDED.receipt_filename,
          order_date = EXCLUDED.order_date,
          transaction_datetime = EXCLUDED.transaction_datetime,
          store_name = EXCLUDED.store_name,
          receipt_item_subtotal = EXCLUDED.receipt_item_subtotal,
          receipt_tax = EXCLUDED.receipt_tax,
          receipt_total_charged = EXCLUDED.receipt_total_charged,
          expense_total = EXCLUDED.expense_total,
          source_reference = EXCLUDED.source_reference,
          payment_method = EXCLUDED.payment_method,
          card_last4 = EXCLUDED.card_last4,
          payer = EXCLUDED.payer,
          extraction_status = EXCLUDED.extraction_status,
          extraction_confidence = EXCLUDED.extraction_confidence
        RETURNING id
        """,
        expense._asdict(),
    ).fetchone()
    if row is None:
        raise RuntimeError("an upsert returns its row")
    return int(row[0])


def add_details(
    connection: Connection,
    expense_pk: int,
    *,
    currency: str | None,
    discount_total: Decimal | None,
    tip: Decimal | None,
) -> None:
    """Set what only schema 2 tells."""
    connection.execute(
        """
        UPDATE budget.expenses SET
          currency = %(currency)s,
          receipt_discount_total = %(discount_total)s,
          receipt_tip = %(tip)s
        WHERE id = %(expense_pk)s
        """,
        {
            "currency": currency,
            "discount_total": discount_total,
            "tip": tip,
            "expense_pk": expense_pk,
        },
    )


def items(connection: Connection, expense_pk: int) -> list[ItemRow]:
    """Return the items of an expense in the order of the receipt."""
    rows = connection.execute(
        """
        SELECT item_name, line_total, budget_category, category_source, category_confidence
        FROM budget.expense_items WHERE expense_pk = %(expense_pk)s ORDER BY line_number, id
        """,
        {"expense_pk": expense_pk},
    ).fetchall()
    return [ItemRow(*row) for row in rows]


def remove_items(connection: Connection, expense_pk: int) -> None:
    """Take the items of an expense away."""
    connection.execute(
        "DELETE FROM budget.expense_items WHERE expense_pk = %(expense_pk)s",
        {"expense_pk": expense_pk},
    )


def add_items(connection: Connection, expense_pk: int, rows: Sequence[ItemRow]) -> None:
    """Store items in this order."""
    connection.execute(
        """
        INSERT INTO budget.expense_items (
          expense_pk, line_number, item_name, line_total, budget_category, category_source,
          category_confidence, unit_qty, unit_cost, weight_qty, weight_unit, tax_code
        )
        SELECT %(expense_pk)s, line_number, item_name, line_total, budget_category,
               category_source, category_confidence, unit_qty, unit_cost, weight_qty, weight_unit,
               tax_code
        FROM unnest(
          %(names)s::text[], %(totals)s::numeric[], %(categories)s::text[], %(sources)s::text[],
          %(confidences)s::numeric[], %(unit_quantities)s::numeric[], %(unit_costs)s::numeric[],
          %(weights)s::numeric[], %(weight_units)s::text[], %(tax_codes)s::text[]
        ) WITH ORDINALITY AS given (
          item_name, line_total, budget_category, category_source, category_confidence, unit_qty,
          unit_cost, weight_qty, weight_unit, tax_code, line_number
        )
        """,
        {
            "expense_pk": expense_pk,
            "names": [row.name for row in rows],
            "totals": [row.line_total for row in rows],
            "categories": [row.budget_category for row in rows],
            "sources": [row.category_source for row in rows],
            "confidences": [row.category_confidence for row in rows],
            "unit_quantities": [row.unit_qty for row in rows],
            "unit_costs": [row.unit_cost for row in rows],
            "weights": [row.weight_qty for row in rows],
            "weight_units": [row.weight_unit for row in rows],
            "tax_codes": [row.tax_code for row in rows],
        },
    )


def link(connection: Connection, found: Link) -> None:
    """Keep that two receipts may be one purchase; what a person decided stays."""
    connection.execute(
        """
        INSERT INTO budget.receipt_duplicate_links AS kept (
          left_evidence_id, right_evidence_id, canonical_expense_pk, score, disposition, reasons,
          resolution_status
        ) VALUES (
          least(%(evidence_id)s, %(other_evidence_id)s),
          greatest(%(evidence_id)s, %(other_evidence_id)s),
          %(expense_pk)s, %(score)s, %(disposition)s, %(reasons)s::jsonb, %(resolution)s
        )
        ON CONFLICT (left_evidence_id, right_evidence_id) DO UPDATE SET
          canonical_expense_pk = EXCLUDED.canonical_expense_pk,
          score = EXCLUDED.score,
          disposition = EXCLUDED.disposition,
          reasons = EXCLUDED.reasons,
          resolution_status = EXCLUDED.resolution_status
        WHERE kept.resolution_status IN ('pending', 'auto_linked')
        """,
        {**found._asdict(), "reasons": wire.dumps(found.reasons).decode("ascii")},
    )
