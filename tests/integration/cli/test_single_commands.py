"""The smaller commands with a real broker and database."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import psycopg
import pytest

from receipt_collector.record import record
from receipt_collector.store.database import Database
from receipt_contract.work import CacheRebuildWork, ReprocessWork
from tests.integration.cli.conftest import Desk
from tests.support.fields import make_full_run
from tests.support.receipts import write_small_receipts
from tests.support.results import reference

BATCH = "0d4c9f0a-0f0e-4b59-9d5c-0c9f3f1d5a11"

_SHOWN = {  # of the receipt with every field
    "merchant_name": "Corner Shop",
    "merchant_tax_id": "DE123456789",
    "transaction_date": "2026-02-27",
    "transaction_time": "09:30:00",
    "currency": "EUR",
    "subtotal": "28.09",
    "total_tax": "2.81",
    "tip": "1.00",
    "rounding": "0.02",
    "discount_total": "1.02",
    "total": "30.90",
    "change": "0.00",
    "card_last4": "4242",
    "extraction_status": "complete",
    "review_reasons": [],
    "result_schema_version": 2,
    "lines_left_out": 0,
}


def test_setting_up_again_changes_nothing(desk: Desk) -> None:
    ran = desk.run("database", "setup")

    assert (ran.code, ran.lines) == (
        0,
        [{"budget": "already_current", "ingest": "already_current", "work": "already_current"}],
    )


def test_one_receipt_is_asked_for_again(desk: Desk) -> None:
    write_small_receipts(desk.root, "2024/a.png")

    ran = desk.run("receipts", "reprocess", "2024/a.png", "--request-id", BATCH)

    (sent,) = desk.sent()
    assert isinstance(sent, ReprocessWork)
    assert (sent.source_reference, sent.request_id) == ("2024/a.png", BATCH)
    assert ran.lines == [
        {
            "source_reference": "2024/a.png",
            "source_sha256": sent.source_sha256,
            "request_id": BATCH,
            "queue": "receipts.v1.work",
            "status": "queued",
        }
    ]


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        pytest.param("gone.png", "No file stands", id="no file there"),
        pytest.param("../etc/passwd", "not a plain path", id="a way out of the root"),
    ],
)
def test_a_receipt_that_is_not_there_is_not_asked_for(
    desk: Desk, reference: str, sentence: str
) -> None:
    write_small_receipts(desk.root, "a.png")

    ran = desk.run("receipts", "reprocess", reference)

    assert (ran.code, ran.stdout) == (1, "")
    assert sentence in ran.stderr
    assert desk.sent() == []


def test_an_unsent_request_names_the_id_to_repeat(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png")

    ran = desk.run(
        "receipts", "reprocess", "a.png", "--request-id", BATCH, RABBITMQ_URL="amqp://127.0.0.1:1"
    )

    assert ran.code == 1
    assert f"--request-id {BATCH}" in ran.stderr


def test_a_batch_is_selected_numbered_and_repeatable(desk: Desk) -> None:
    write_small_receipts(desk.root, "2024/a.png", "2024/b.png", "2023/c.png")
    arguments = ("ocr-cache", "rebuild", "--glob", "2024/*.png", "--request-id", BATCH)

    ran = desk.run(*arguments)
    first = desk.sent()
    desk.run(*arguments)

    assert ran.lines == [
        {
            "discovered": 2,
            "selected": 2,
            "published": 2,
            "request_id": BATCH,
            "queue": "receipts.v1.work",
            "status": "queued",
            "skipped_existing": 0,
        }
    ]
    batch = [one for one in first if isinstance(one, CacheRebuildWork)]
    numbers = [(one.source_reference, one.batch_index, one.batch_total) for one in batch]
    assert numbers == [("2024/a.png", 1, 2), ("2024/b.png", 2, 2)]
    assert len({one.request_id for one in batch}) == 2
    assert desk.sent() == first


def test_receipts_with_a_cache_are_left_out_of_a_batch_on_demand(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png", "b.png")
    (desk.cache / ".ocr-cache").touch()
    (desk.cache / "a.png.json").write_text("{}")

    ran = desk.run("ocr-cache", "rebuild", "--missing-only")

    assert (ran.lines[0]["selected"], ran.lines[0]["skipped_existing"]) == (1, 1)
    assert [one.source_reference for one in desk.sent()] == ["b.png"]


def test_one_receipt_makes_a_batch_of_one(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png", "b.png")

    ran = desk.run("ocr-cache", "rebuild", "--receipt", "b.png")

    assert ran.code == 0
    assert uuid.UUID(ran.lines[0]["request_id"])
    assert [one.source_reference for one in desk.sent()] == ["b.png"]


def test_an_empty_selection_has_an_exit_code_of_its_own(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png")

    ran = desk.run("ocr-cache", "rebuild", "--prefix", "nowhere/")

    assert (ran.code, ran.lines[0]["status"]) == (2, "nothing_selected")


def test_nothing_is_shown_of_a_receipt_that_was_never_read(desk: Desk) -> None:
    ran = desk.run("receipts", "show", "a.png")

    assert (ran.code, ran.stdout) == (1, "")


def test_every_field_is_shown_with_its_evidence_and_exact_amounts(desk: Desk) -> None:
    with closing(Database(desk.env["DATABASE_URL"])) as database:
        database.run(partial(record, event=make_full_run()))

    (shown,) = desk.run("receipts", "show", reference()).lines
    (exported,) = desk.run("receipts", "export").lines

    assert shown == exported
    assert {name: shown[name] for name in _SHOWN} == _SHOWN
    assert shown["items"][1] == {
        "description": "Apples",
        "quantity": "1.254",
        "quantity_unit": "kg",
        "price": "1.99",
        "total_price": "2.50",
        "product_code": None,
        "tax_code": None,
    }
    assert shown["tax_details"] == [
        {"rate": "10", "net_amount": "28.09", "amount": "2.81", "description": "A"}
    ]
    assert shown["payments"] == [
        {"method": "Card", "amount": "30.90", "card_network": "Visa", "card_last4": "4242"}
    ]
    assert shown["fields"]["total"]["value"] == "30.90"
    assert shown["fields"]["total"]["evidence"] == ["i2_parts_sum", "i5_card_slip"]


def test_what_was_saved_before_schema_2_is_shown_and_exported_as_well(desk: Desk) -> None:
    payload = (
        '{"subtotal": 27.35, "tax": 3.55, "review_reasons": [],'
        ' "items": [{"item_name": "Tea", "line_total": 2.50}]}'
    )
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        for reference, digit in (("b.png", "b"), ("a.png", "a")):
            connection.execute(
                "INSERT INTO budget.receipt_evidence (evidence_type, source_reference,"
                " source_sha256, merchant, transaction_date, total, extraction_status,"
                " raw_payload) VALUES ('scanned', %s, %s, 'SHOP', '2024-03-14', 30.90,"
                " 'complete', %s::jsonb)",
                (reference, digit * 64, payload),
            )

    shown = desk.run("receipts", "show", "a.png")
    exported = desk.run("receipts", "export")

    (saved,) = shown.lines
    assert (saved["total"], saved["total_tax"], saved["transaction_date"]) == (
        "30.90",
        "3.55",
        "2024-03-14",
    )
    assert saved["items"] == [{"description": "Tea", "total_price": "2.50"}]
    assert [one["source_reference"] for one in exported.lines] == ["a.png", "b.png"]


def test_the_doctor_finds_a_healthy_installation_well(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png")
    (desk.cache / ".ocr-cache").touch()

    ran = desk.run("doctor", "--format", "jsonl")

    states = {line["check"]: line["state"] for line in ran.lines}
    assert ran.code == 0
    assert states == {
        "broker": "ok",
        "topology": "ok",
        "consumer timeout": "unseen",
        "database": "ok",
        "schema": "ok",
        "tesseract": "ok",
        "receipts root": "ok",
        "cache root": "ok",
    }


def test_the_doctor_names_what_is_wrong(desk: Desk, database_admin_url: str) -> None:
    desk.visitor.channel.queue_delete("receipts.v1.failures")

    ran = desk.run("doctor", DATABASE_URL=database_admin_url, RECEIPT_OCR_LANGUAGES="eng+xxx")
    desk.run("topology", "declare")

    assert ran.code == 1
    assert "receipts.v1.failures is missing" in ran.stdout
    assert "run `ledger database setup`" in ran.stdout
    assert "apt install tesseract-ocr-xxx" in ran.stdout
    assert "absent, unreadable or empty" in ran.stdout


@pytest.fixture
def asked(desk: Desk) -> Iterator[str]:
    """Write a finished request with one done and one failed receipt into the register."""
    request_id = str(uuid.uuid4())
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute(
            "INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id,"
            " object_uid, wish, state, total) VALUES (%s, 'c', 'n', 'CacheRebuild', 'x', 'r', 'u',"
            ' \'{"target": {"references": ["a.png", "b.png"]}}\', \'open\', 2)',
            [request_id],
        )
        connection.execute(
            "INSERT INTO work.items (request_id, reference, state, reason) VALUES"
            " (%(id)s, 'a.png', 'done', NULL), (%(id)s, 'b.png', 'failed', 'corrupt')",
            {"id": request_id},
        )
    yield request_id
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute("TRUNCATE work.requests CASCADE")


def test_requests_are_listed_with_live_counts_and_shown_with_their_receipts(
    desk: Desk, asked: str
) -> None:
    (listed,) = desk.run("requests", "list").lines
    shown, item = desk.run("requests", "show", asked, "--state", "failed").lines

    assert (listed["request_id"], listed["done"], listed["failed"]) == (asked, 1, 1)
    assert shown["wish"]["target"] == {"references": ["a.png", "b.png"]}
    assert (item["reference"], item["reason"]) == ("b.png", "corrupt")


def test_dead_letters_are_listed_and_shown_with_the_body_a_replay_sends(desk: Desk) -> None:
    failure_id = str(uuid.uuid4())
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute(
            "INSERT INTO budget.receipt_failures (failure_id, side, reason, sentence, body,"
            " body_sha256, body_bytes) VALUES (%s, 'receipts.v1', 'corrupt', 'Damaged.', '{}',"
            " 'x', 2)",
            [failure_id],
        )

    (listed,) = desk.run("dead", "list").lines
    (shown,) = desk.run("dead", "show", failure_id).lines

    assert (listed["failure_id"], listed["reason"]) == (failure_id, "corrupt")
    assert shown["body"] == "{}"


@pytest.mark.parametrize("command", ["requests", "dead"])
def test_an_unknown_id_is_said_to_be_unknown(desk: Desk, command: str) -> None:
    ran = desk.run(command, "show", BATCH)

    assert (ran.code, ran.stdout) == (1, "")
    assert "has this id" in ran.stderr
