"""`receipts publish` with a real broker and database."""

from hashlib import sha256
from urllib.parse import urlsplit

import psycopg

from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import ProcessWork, ReprocessWork
from tests.integration.cli.conftest import Desk
from tests.support.services import Broker

MARK = ".ocr-cache"


def _write(desk: Desk, **contents: str) -> None:
    for stem, content in contents.items():
        path = desk.root / f"{stem}.pdf"
        path.write_bytes(content.encode())


def _remember(desk: Desk, content: str, status: str, attempts: int = 1) -> None:
    digest = sha256(content.encode()).hexdigest()
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO ingest.receipts VALUES (%s, 'x')", (digest,))
        connection.execute(
            "INSERT INTO ingest.receipt_processing_status (source_sha256, status, attempts,"
            " completed_at) VALUES (%s, %s, %s, '2024-03-14T12:00Z')",
            (digest, status, attempts),
        )


def test_each_receipt_is_sent_by_what_the_database_knows_of_it(desk: Desk) -> None:
    _write(desk, a="new", b="failing", c="exhausted", d="read", e="uncached", f="new")
    _remember(desk, "failing", "failed", attempts=2)
    _remember(desk, "exhausted", "failed", attempts=3)
    _remember(desk, "read", "succeeded")
    _remember(desk, "uncached", "review_required", attempts=5)
    (desk.cache / MARK).touch()
    (desk.cache / "d.pdf.json").write_text("{}")

    ran = desk.run("receipts", "publish", "--min-age", 0)

    assert (ran.code, ran.lines) == (
        0,
        [{"discovered": 6, "skipped": 2, "exhausted": 1, "cache_missing": 1, "published": 3}],
    )
    sent = desk.sent()
    assert [(type(one), one.source_reference, one.attempt) for one in sent] == [
        (ProcessWork, "a.pdf", 1),
        (ProcessWork, "b.pdf", 1),
        (ReprocessWork, "e.pdf", 1),
    ]


def test_a_repair_has_the_same_request_each_time(desk: Desk) -> None:
    _write(desk, a="uncached")
    _remember(desk, "uncached", "succeeded")
    (desk.cache / MARK).touch()

    for _ in range(2):
        assert desk.run("receipts", "publish", "--min-age", 0).code == 0
    first, second = desk.sent()

    assert first == second


def test_a_cache_volume_that_is_away_repairs_nothing(desk: Desk) -> None:
    _write(desk, a="new", b="read")
    _remember(desk, "read", "succeeded")

    ran = desk.run("receipts", "publish", "--min-age", 0)

    assert ran.code == 1
    assert "cache root is absent" in ran.stderr
    assert not any(isinstance(one, ReprocessWork) for one in desk.sent())


def test_a_file_still_being_written_waits_for_the_next_time(desk: Desk) -> None:
    _write(desk, a="new")

    ran = desk.run("receipts", "publish")

    assert ran.lines[0]["skipped"] == 1
    assert "may still be written" in ran.stderr
    assert desk.sent() == []


def test_a_name_too_long_for_a_message_is_passed_over_and_the_others_are_sent(desk: Desk) -> None:
    folder = desk.root.joinpath(*["é" * 120] * 12)
    folder.mkdir(parents=True)
    (folder / "a.pdf").write_bytes(b"far down")
    _write(desk, b="new")

    ran = desk.run("receipts", "publish", "--min-age", 0)

    assert (ran.code, ran.lines[0]["published"]) == (0, 1)
    assert "plain path" in ran.stderr


def test_an_empty_root_is_a_failure_and_never_nothing_to_do(desk: Desk) -> None:
    ran = desk.run("receipts", "publish")

    assert (ran.code, ran.lines[0]["discovered"]) == (1, 0)
    assert "absent, unreadable or empty" in ran.stderr


def test_confirmed_messages_are_counted_when_the_queue_fills_up(desk: Desk, broker: Broker) -> None:
    _write(desk, **{f"r{number}": f"new {number}" for number in range(600)})
    vhost = urlsplit(desk.env["RABBITMQ_URL"]).path[1:]
    broker.api.limit_queue(vhost, WORK_SIDE.work, messages=5)

    ran = desk.run("receipts", "publish", "--min-age", 0)
    broker.api.unlimit_queue(vhost, WORK_SIDE.work)

    assert ran.code == 1
    assert "queue is full" in ran.stderr
    assert 0 < ran.lines[0]["published"] == len(desk.sent()) < 600


def test_a_queue_of_another_shape_is_named_with_both_values(desk: Desk) -> None:
    _write(desk, a="new")
    desk.visitor.channel.queue_delete(WORK_SIDE.work)
    desk.visitor.channel.queue_declare(
        WORK_SIDE.work, durable=True, arguments={"x-queue-type": "quorum"}
    )

    ran = desk.run("receipts", "publish", "--min-age", 0)
    desk.visitor.channel.queue_delete(WORK_SIDE.work)
    desk.run("topology", "declare")

    assert (ran.code, ran.lines[0]["published"]) == (1, 0)
    assert "receipts.v1.work: x-" in ran.stderr
    assert "on the broker, wanted is" in ran.stderr


def test_g8_nothing_secret_is_printed_when_nobody_answers(desk: Desk) -> None:
    _write(desk, a="new")

    ran = desk.run(
        "receipts",
        "publish",
        "--min-age",
        0,
        RABBITMQ_URL="amqp://ada:hunter2@127.0.0.1:1/x",
        DATABASE_URL="postgresql://ada:hunter2@127.0.0.1:1/x",
    )

    assert ran.code == 1
    assert "database does not answer" in ran.stderr
    assert "hunter2" not in ran.stdout + ran.stderr
    assert "127.0.0.1" not in ran.stdout + ran.stderr
