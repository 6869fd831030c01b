"""The whole way without Kubernetes: publish, consume, collect, show, each through `ledger`."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from dev import paper
from dev.paper import Row
from receipt_contract.topology import RESULTS_SIDE, WORK_SIDE
from tests.integration.cli.conftest import Desk
from tests.support.amqp import eventually
from tests.support.receipts import small_receipt, write_small_receipts

STOP_SECONDS = 60

CARD, AMEX = "4556737586899855", "378282246310005"  # made up; their check digits are right


@contextmanager
def _running(desk: Desk, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that ends by a signal; whatever happens it does not outlive the test."""
    with (desk.root.parent / f"{arguments[-1]}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "receipt_cli", *arguments],
            env={**os.environ, **desk.env, "HEALTH_PORT": "0"},
            stdout=log,
            stderr=log,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def test_receipts_go_all_the_way_and_are_sent_once(desk: Desk) -> None:
    write_small_receipts(desk.root, "a.png", "b.png")
    publish = ("receipts", "publish", "--min-age", 0)

    with _running(desk, "receipts", "consume") as worker, _running(desk, "receipts", "collect"):
        first = desk.run(*publish)
        eventually(lambda: len(desk.run("receipts", "export").lines) == 2)
        second = desk.run(*publish)
        (desk.cache / "b.png.json").unlink()
        third = desk.run(*publish)
        eventually((desk.cache / "b.png.json").exists)
        worker.terminate()
        code = worker.wait(STOP_SECONDS)

    (shown,) = desk.run("receipts", "show", "a.png").lines
    assert (shown["total"], shown["reading_status"]) == (str(small_receipt(1).total), "succeeded")
    assert first.lines[0]["published"] == 2
    assert (second.lines[0]["published"], second.lines[0]["skipped"]) == (0, 2)
    assert (third.lines[0]["published"], third.lines[0]["cache_missing"]) == (1, 1)
    assert code == 0


def test_g8_of_a_card_number_nothing_but_four_digits_is_kept_anywhere(desk: Desk) -> None:
    rows = [Row(f"VISA {number}") for number in _as_printed()]
    receipt = [Row("CORNER SHOP"), Row("Date: 05 Mar 2024"), Row("TOTAL EUR", "3.00"), *rows]
    (desk.root / "card.pdf").write_bytes(paper.as_text_pdf(receipt))
    desk.visitor.channel.queue_declare("copies")
    desk.visitor.channel.queue_bind("copies", RESULTS_SIDE.work, RESULTS_SIDE.routing_key)

    with _running(desk, "receipts", "consume"), _running(desk, "receipts", "collect"):
        desk.run("receipts", "publish", "--min-age", 0)
        eventually(
            lambda: any("9855" in row for row in _every_row(desk.env["DATABASE_URL"])), within=180
        )

    events = [taken.body.decode() for taken in desk.visitor.take_all("copies")]
    desk.visitor.channel.queue_delete("copies")
    kept = {
        "events": events,
        "rows": _every_row(desk.env["DATABASE_URL"]),
        "cache": [path.read_text() for path in desk.cache.rglob("*.json")],
        "logs": [path.read_text() for path in desk.root.parent.glob("*.log")],
    }
    assert all(kept.values())
    assert "9855" in events[0]  # so the lines were read
    for place, texts in kept.items():
        assert [part for part in _too_much() for text in texts if part in text] == [], place


def _as_printed() -> list[str]:
    return [
        CARD,
        " ".join(CARD[start : start + 4] for start in range(0, 16, 4)),
        "-".join(CARD[start : start + 4] for start in range(0, 16, 4)),
        f"{AMEX[:4]} {AMEX[4:10]} {AMEX[10:]}",
        AMEX,
    ]


def _too_much() -> list[str]:
    """Return parts of the numbers that are longer than four digits, as printed and joined.

    Eight characters, as fewer digits stand in a hash or a moment by chance.
    """
    return [text[start : start + 8] for text in _as_printed() for start in range(len(text) - 7)]


def _every_row(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            """
            SELECT format('SELECT line::text FROM %I.%I AS line', schemaname, tablename)
            FROM pg_tables WHERE schemaname IN ('budget', 'ingest', 'work')
            """
        ).fetchall()
        return [row[0] for (query,) in tables for row in connection.execute(query.encode())]


@pytest.mark.parametrize("command", ["consume", "collect"])
def test_an_idle_process_ends_by_a_signal(desk: Desk, command: str) -> None:
    write_small_receipts(desk.root, "a.png")
    queue = WORK_SIDE.work if command == "consume" else "ocr.results.v1.work"
    waiting = desk.visitor

    with _running(desk, "receipts", command) as process:
        eventually(lambda: waiting.channel.queue_declare(queue, passive=True).method.consumer_count)
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOP_SECONDS)

    assert code == 0


def test_a_collector_without_its_schema_says_what_to_do(
    desk: Desk, database_admin_url: str
) -> None:
    ran = desk.run("receipts", "collect", DATABASE_URL=database_admin_url, HEALTH_PORT="0")

    assert ran.code == 1
    assert "run `ledger database setup`" in ran.stderr
