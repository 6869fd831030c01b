"""What result schema 2 tells beyond the main fields: one function for each place it is kept.

Never called for an event of schema 1 but for its items, so what such an event cannot tell stays.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from psycopg import sql

from receipt_collector.store.database import Connection
from receipt_contract import wire
from receipt_contract.fields import LeftOut, PrintedPage
from receipt_contract.results import FullReceipt

Entry = Mapping[str, object]

# Of these fields schema 1 has values of its own, without evidence.
_FIELDS_OF_SCHEMA_1 = [
    "merchant_name",
    "transaction_date",
    "transaction_time",
    "receipt_number",
    "subtotal",
    "total_tax",
    "total",
]


class Rows(StrEnum):
    """Which table keeps a list of a receipt."""

    ITEMS = "receipt_items"
    TAX_DETAILS = "receipt_tax_details"
    PAYMENTS = "receipt_payments"
    LINES = "receipt_ocr_lines"


def update(
    connection: Connection, receipt: FullReceipt, *, left_out: LeftOut, evidence_id: int
) -> None:
    """Set every single field that is not a main one, and the evidence of all."""
    values = {name: found.value for name, found in receipt.found.items()}
    connection.execute(
        """
        UPDATE budget.receipt_evidence SET
          currency = %(currency)s,
          tip = %(tip)s,
          rounding = %(rounding)s,
          discount_total = %(discount_total)s,
          change = %(change)s,
          merchant_address = %(merchant_address)s,
          merchant_phone_number = %(merchant_phone_number)s,
          merchant_tax_id = %(merchant_tax_id)s,
          receipt_type = %(receipt_type)s,
          country_region = %(country_region)s,
          fields = %(fields)s::jsonb,
          lines_left_out = %(lines_left_out)s,
          items_left_out = %(items_left_out)s
        WHERE id = %(evidence_id)s
        """,
        {
            **dict.fromkeys(FullReceipt.model_fields),
            **values,
            "fields": _json({name: found.model_dump() for name, found in receipt.found.items()}),
            "lines_left_out": left_out.lines,
            "items_left_out": left_out.items,
            "evidence_id": evidence_id,
        },
    )


def forget_main_evidence(connection: Connection, *, evidence_id: int) -> None:
    """Take away the evidence of values that an event of schema 1 has just replaced."""
    connection.execute(
        """
        UPDATE budget.receipt_evidence SET fields = fields - %(names)s::text[]
        WHERE id = %(evidence_id)s
        """,
        {"names": _FIELDS_OF_SCHEMA_1, "evidence_id": evidence_id},
    )


def remove(connection: Connection, rows: Rows, *, evidence_id: int) -> None:
    """Take a list away, before it is written anew."""
    connection.execute(
        sql.SQL("DELETE FROM budget.{} WHERE evidence_id = %(evidence_id)s").format(
            sql.Identifier(rows)
        ),
        {"evidence_id": evidence_id},
    )


def add_items(connection: Connection, rows: Sequence[Entry], *, evidence_id: int) -> None:
    """Store items, each an object as schema 2 tells it; a key may be absent."""
    connection.execute(
        """
        INSERT INTO budget.receipt_items (
          evidence_id, position, description, quantity, quantity_unit, price, total_price,
          product_code, tax_code, raw_text, page_number, x, y, width, height, pass_id, confidence,
          evidence
        )
        SELECT
          %(evidence_id)s, position, description, quantity, quantity_unit, price, total_price,
          product_code, tax_code, raw_text, page, (box->>'x')::integer, (box->>'y')::integer,
          (box->>'width')::integer, (box->>'height')::integer, pass_id, confidence,
          coalesce(evidence, '{}')
        FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (
          description text, quantity numeric, quantity_unit text, price numeric,
          total_price numeric, product_code text, tax_code text, raw_text text, page integer,
          box jsonb, pass_id integer, confidence numeric, evidence text[]
        )) WITH ORDINALITY AS given (
          description, quantity, quantity_unit, price, total_price, product_code, tax_code,
          raw_text, page, box, pass_id, confidence, evidence, position
        )
        """,
        {"evidence_id": evidence_id, "rows": _json(rows)},
    )


def add_tax_details(connection: Connection, rows: Sequence[Entry], *, evidence_id: int) -> None:
    """Store the rows of the tax table."""
    connection.execute(
        """
        INSERT INTO budget.receipt_tax_details (
          evidence_id, position, rate, net_amount, amount, description, raw_text, page_number, x, y,
          width, height, pass_id, confidence, evidence
        )
        SELECT
          %(evidence_id)s, position, rate, net_amount, amount, description, raw_text, page,
          (box->>'x')::integer, (box->>'y')::integer, (box->>'width')::integer,
          (box->>'height')::integer, pass_id, confidence, coalesce(evidence, '{}')
        FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (
          rate numeric, net_amount numeric, amount numeric, description text, raw_text text,
          page integer, box jsonb, pass_id integer, confidence numeric, evidence text[]
        )) WITH ORDINALITY AS given (
          rate, net_amount, amount, description, raw_text, page, box, pass_id, confidence,
          evidence, position
        )
        """,
        {"evidence_id": evidence_id, "rows": _json(rows)},
    )


def add_payments(connection: Connection, rows: Sequence[Entry], *, evidence_id: int) -> None:
    """Store how it was paid."""
    connection.execute(
        """
        INSERT INTO budget.receipt_payments (
          evidence_id, position, method, amount, card_network, card_last4, raw_text, page_number,
          x, y, width, height, pass_id, confidence, evidence
        )
        SELECT
          %(evidence_id)s, position, method, amount, card_network, card_last4, raw_text, page,
          (box->>'x')::integer, (box->>'y')::integer, (box->>'width')::integer,
          (box->>'height')::integer, pass_id, confidence, coalesce(evidence, '{}')
        FROM ROWS FROM (jsonb_to_recordset(%(rows)s::jsonb) AS (
          method text, amount numeric, card_network text, card_last4 text, raw_text text,
          page integer, box jsonb, pass_id integer, confidence numeric, evidence text[]
        )) WITH ORDINALITY AS given (
          method, amount, card_network, card_last4, raw_text, page, box, pass_id, confidence,
          evidence, position
        )
        """,
        {"evidence_id": evidence_id, "rows": _json(rows)},
    )


def add_lines(connection: Connection, pages: Sequence[PrintedPage], *, evidence_id: int) -> None:
    """Store the printed lines with their places."""
    connection.execute(
        """
        INSERT INTO budget.receipt_ocr_lines (
          evidence_id, page_number, line_number, text, confidence, x, y, width, height, page_left,
          page_width, indent_pixels, indent_ratio, indent_level, line_type
        )
        SELECT
          %(evidence_id)s, page.page_number, line.line_number, line.text, line.confidence, place.x,
          place.y, place.width, place.height, page.printed_left, page.printed_width,
          place.x - page.printed_left,
          round((place.x - page.printed_left)::numeric / nullif(page.printed_width, 0), 6),
          line.indent_level, line.line_type
        FROM jsonb_to_recordset(%(pages)s::jsonb) AS page (
          page_number integer, printed_left integer, printed_width integer, lines jsonb
        )
        CROSS JOIN LATERAL jsonb_to_recordset(page.lines) AS line (
          line_number integer, text text, confidence numeric, box jsonb, indent_level integer,
          line_type text
        )
        CROSS JOIN LATERAL jsonb_to_record(line.box) AS place (
          x integer, y integer, width integer, height integer
        )
        """,
        {"evidence_id": evidence_id, "pages": _json([page.model_dump() for page in pages])},
    )


def set_page_text(connection: Connection, texts: Sequence[str], *, evidence_id: int) -> None:
    """Set the text of each page."""
    connection.execute(
        """
        UPDATE budget.receipt_evidence SET page_text = %(texts)s::jsonb WHERE id = %(evidence_id)s
        """,
        {"texts": _json(texts), "evidence_id": evidence_id},
    )


def _json(document: Any) -> str:
    return wire.dumps(document).decode("ascii")
