"""The whole way without Kubernetes: publish, consume, collect, show, each through `ledger`."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from receipt_contract.topology import WORK_SIDE
from tests.integration.cli.conftest import Desk
from tests.support.amqp import eventually
from tests.support.receipts import small_receipt, write_small_receipts

STOP_SECONDS = 60


@contextmanager
def _running(desk: Desk, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that ends by a signal; whatever happens it does not outlive the test."""
    process = subprocess.Popen(
        [sys.executable, "-m", "receipt_cli", *arguments],
        env={**os.environ, **desk.env, "HEALTH_PORT": "0"},
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
