"""The smaller commands with a real broker and database."""

import uuid

import psycopg
import pytest

from receipt_contract.work import CacheRebuildWork, ReprocessWork
from tests.integration.cli.conftest import Desk
from tests.support.receipts import write_small_receipts

BATCH = "0d4c9f0a-0f0e-4b59-9d5c-0c9f3f1d5a11"


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


def test_saved_extractions_are_shown_and_exported_with_exact_amounts(desk: Desk) -> None:
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
    assert (saved["total"], saved["tax"], saved["transaction_date"]) == (
        "30.90",
        "3.55",
        "2024-03-14",
    )
    assert saved["items"] == [{"item_name": "Tea", "line_total": "2.50"}]
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
