"""The schema's life on a real database."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import psycopg
import pytest

from receipt_collector import schema
from receipt_collector.schema import Outcome, Part, SchemaError
from receipt_collector.store import database
from tests.support import services

NewDatabase = Callable[[str], str]

# Columns that other programs of the household read or write, by table.
COMPATIBLE = {
    "ingest.receipts": "source_sha256 source_reference first_discovered_at updated_at",
    "ingest.receipt_processing_status": (
        "source_sha256 status attempts last_error first_attempted_at last_attempted_at"
        " completed_at updated_at"
    ),
    "budget.receipt_processing_status": "source_sha256 source_reference status attempts last_error",
    "budget.receipt_reprocess_requests": (
        "source_sha256 request_id attempts created_at completed_at"
    ),
    "budget.receipt_cache_requests": "source_sha256 request_id attempts created_at completed_at",
    "budget.receipt_evidence": (
        "id expense_pk evidence_type source_reference source_sha256 mime_type"
        " transaction_datetime merchant receipt_id total payment_method card_last4"
        " extraction_status extraction_confidence raw_text page_text raw_payload"
        " is_primary_source has_handwritten_notes has_category_markup"
    ),
    "budget.receipt_annotations": (
        "evidence_id annotation_type page_number text normalized_category confidence x1 y1 x2 y2"
        " raw_payload amount line_index"
    ),
    "budget.receipt_ocr_lines": (
        "evidence_id page_number line_number text confidence x y width height page_left page_width"
        " indent_pixels indent_ratio indent_level line_type department applies_to_page"
        " applies_to_line"
    ),
    "budget.receipt_ocr_runs": (
        "run_uuid evidence_id source_sha256 source_reference cache_version processed_at"
        " processing_seconds worker_host worker_pid merchant extraction_status"
        " extraction_confidence timings created_at result_schema_version traceparent"
        " worker_identity"
    ),
    "budget.receipt_ocr_passes": (
        "run_uuid pass_id engine engine_type variant status psm error_type page_number dpi"
        " line_count character_count structural_score summary_score consensus_line_coverage"
        " seconds consensus_coverage_ratio valid_timestamp selected_base quality engine_options"
        " usage provenance extracted_text"
    ),
    "budget.receipt_ocr_feedback": (
        "evidence_id outcome corrected_fields notes verified_by verified_at"
    ),
    "budget.receipt_ocr_artifacts": "id run_uuid kind uri sha256 media_type size_bytes created_at",
    "budget.ocr_result_events": (
        "message_id schema_version event_type run_uuid pass_id source_sha256 source_reference"
        " worker_identity trace_context occurred_at persisted_at"
    ),
    "budget.expenses": (
        "id source order_id receipt_filename order_date store_name order_url"
        " receipt_item_subtotal receipt_discount_total receipt_tip receipt_service_fee"
        " receipt_recycling_fee receipt_service_fee_tax receipt_gst receipt_pst"
        " receipt_total_charged expense_total total_recon_diff raw_payload source_reference"
        " source_sha256 extraction_status extraction_confidence transaction_datetime"
        " payment_method card_last4 payer"
    ),
    "budget.expense_items": (
        "expense_pk item_name item_name_norm tax_code budget_category unit_qty unit_cost"
        " weight_qty weight_unit line_total original_line_total"
    ),
    "budget.merchant_aliases": "alias_name merchant_name is_active",
    "budget.receipt_duplicate_links": (
        "left_evidence_id right_evidence_id canonical_expense_pk score disposition reasons"
        " item_similarity resolution_status"
    ),
    "budget.canonical_item_source_resolutions": (
        "expense_pk evidence_id source_type reason item_count"
    ),
}


@pytest.fixture
def new_database(database_admin_url: str) -> Iterator[NewDatabase]:
    """Make empty databases by name, and take them away at the end."""
    opened: list[AbstractContextManager[str]] = []

    def make(name: str) -> str:
        fresh = services.fresh_database(database_admin_url, f"schema-{name}")
        opened.append(fresh)
        return fresh.__enter__()

    yield make
    for fresh in opened:
        fresh.__exit__(None, None, None)


def test_setup_says_what_it_did(new_database: NewDatabase) -> None:
    url = new_database("said")
    first = schema.setup(url, {part: schema.revisions(part)[0] for part in Part})

    second = schema.setup(url)
    third = schema.setup(url)

    assert set(first.values()) == {Outcome.CREATED}
    assert second == {
        "budget": "upgraded",
        "ingest": "already_current",
        "work": "upgraded",
    }
    assert set(third.values()) == {Outcome.ALREADY_CURRENT}


def test_a_fresh_schema_equals_an_upgraded_one(new_database: NewDatabase) -> None:
    fresh, upgraded = new_database("fresh"), new_database("upgraded")
    schema.setup(fresh)

    for step in range(max(len(schema.revisions(part)) for part in Part)):
        schema.setup(upgraded, {part: schema.revisions(part)[: step + 1][-1] for part in Part})

    assert _shape(upgraded) == _shape(fresh)
    assert len(_shape(fresh)) > 400


def test_setups_at_the_same_time_do_not_disturb_each_other(new_database: NewDatabase) -> None:
    url = new_database("together")
    together = threading.Barrier(4)

    def set_up(_: int) -> dict[Part, Outcome]:
        together.wait()
        return schema.setup(url)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(set_up, range(4)))

    outcomes = [each[Part.BUDGET] for each in done]
    assert sorted(outcomes) == ["already_current"] * 3 + ["created"]


def test_a_dropped_ingest_is_set_up_again_alone(new_database: NewDatabase) -> None:
    url = new_database("dropped")
    schema.setup(url)
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA ingest CASCADE")

    done = schema.setup(url)

    assert done == {
        "budget": "already_current",
        "ingest": "created",
        "work": "already_current",
    }


def test_a_setup_that_fails_changes_nothing(new_database: NewDatabase) -> None:
    url = new_database("failed")
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA work; CREATE TABLE work.inbox (id int)")

    with pytest.raises(SchemaError, match="work holds tables of another program"):
        schema.setup(url)

    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_regnamespace('budget')").fetchone()
    assert found == (None,)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            "DROP SCHEMA ingest CASCADE",
            "schema ingest is missing: run `ledger database setup`",
            id="a missing part",
        ),
        pytest.param(
            "UPDATE budget.schema_version SET version_num = 'budget_0001'",
            "schema budget is older than this program: run `ledger database setup`",
            id="an older part",
        ),
        pytest.param(
            "UPDATE work.schema_version SET version_num = 'work_9999'",
            "schema work is newer than this program: run a newer version of this program",
            id="a newer part",
        ),
    ],
)
def test_a_schema_of_another_age_is_refused_with_what_to_do(
    new_database: NewDatabase, change: str, sentence: str
) -> None:
    url = new_database("age")
    schema.setup(url)
    with psycopg.connect(url) as connection:
        connection.execute(change.encode())

    with database.connect(url) as connection, pytest.raises(SchemaError) as caught:
        schema.check(connection)

    assert str(caught.value) == sentence


@pytest.mark.parametrize("table", COMPATIBLE)
def test_names_that_other_programs_use_are_there(schema_url: str, table: str) -> None:
    schema_name, name = table.split(".")
    with psycopg.connect(schema_url) as connection:
        rows = connection.execute(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_schema = %s AND table_name = %s
            """,
            (schema_name, name),
        ).fetchall()

    assert set(COMPATIBLE[table].split()) <= {row[0] for row in rows}


def _shape(url: str) -> list[tuple[object, ...]]:
    """Return every column, constraint, index, trigger and view of our schemas."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            """
            SELECT 'column', table_schema, table_name, column_name, data_type, column_default,
                   is_nullable || coalesce(generation_expression, '')
            FROM information_schema.columns WHERE table_schema IN ('budget', 'ingest', 'work')
            UNION ALL
            SELECT 'constraint', connamespace::regnamespace::text, conrelid::regclass::text,
                   conname, pg_get_constraintdef(oid), NULL, NULL
            FROM pg_constraint
            WHERE connamespace::regnamespace::text IN ('budget', 'ingest', 'work')
            UNION ALL
            SELECT 'index', schemaname, tablename, indexname, indexdef, NULL, NULL
            FROM pg_indexes WHERE schemaname IN ('budget', 'ingest', 'work')
            UNION ALL
            SELECT 'trigger', '', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), NULL,
                   NULL
            FROM pg_trigger WHERE NOT tgisinternal
            UNION ALL
            SELECT 'view', schemaname, viewname, '', definition, NULL, NULL
            FROM pg_views WHERE schemaname IN ('budget', 'ingest', 'work')
            ORDER BY 1, 2, 3, 4
            """
        ).fetchall()
