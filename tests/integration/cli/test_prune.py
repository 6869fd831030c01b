"""`ledger prune` on a real database and a real cache."""

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from receipt_cli import prune
from receipt_collector.record import record
from receipt_collector.store.database import Database
from receipt_contract import cachefiles
from receipt_worker import cache
from tests.integration.cli.conftest import Desk
from tests.support.fields import make_full_run
from tests.unit.worker.readings import REFERENCE, make_document

pytestmark = pytest.mark.services

OLD, RECENT = (str(uuid.UUID(int=number)) for number in (1, 2))
MONTH = 31 * 86_400


@pytest.fixture
def connection(desk: Desk) -> Iterator[psycopg.Connection[Any]]:
    """Open the database, and leave no request to the next test."""
    with psycopg.connect(desk.env["DATABASE_URL"], autocommit=True) as opened:
        yield opened
        opened.execute("TRUNCATE work.requests, work.inbox CASCADE")


def _finished(connection: psycopg.Connection[Any], request_id: str, *, days_ago: int) -> None:
    connection.execute(
        "INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id,"
        " object_uid, wish, state, total, finished_at, result, done) VALUES (%s, 'c', 'n',"
        " 'CacheRebuild', 'x', 'r', 'u', '{}', 'finished', 2000, now() - %s * interval '1 day',"
        " 'Succeeded', 2000)",
        [request_id, days_ago],
    )
    connection.execute(
        "INSERT INTO work.items (request_id, reference, state)"
        " SELECT %s, number || '.png', 'done' FROM generate_series(1, 2000) AS number",
        [request_id],
    )
    connection.execute(
        "INSERT INTO work.inbox (event_id, event_type, run_uuid, outcome, recorded_at)"
        " VALUES (%s, 'some', %s, 'stored', now() - %s * interval '1 day')",
        [request_id, request_id, days_ago],
    )


def _count(connection: psycopg.Connection[Any], table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()  # noqa: S608
    return int(row[0]) if row else 0


def test_items_and_event_ids_leave_after_90_days_and_requests_never(
    desk: Desk, connection: psycopg.Connection[Any]
) -> None:
    _finished(connection, OLD, days_ago=91)
    _finished(connection, RECENT, days_ago=89)
    (desk.cache / cachefiles.ROOT_MARK).touch()

    ran = desk.run("prune")

    assert (ran.code, ran.lines[0]["items"], ran.lines[0]["inbox"]) == (0, 2000, 1)
    assert _count(connection, "work.requests") == 2
    assert _count(connection, "work.items") == 2000
    assert _count(connection, "work.requests WHERE done = 2000") == 2


def _kept_artifact(desk: Desk, total: str) -> Path:
    """Write a document into the cache, a month ago; returns its artifact."""
    kept = cache.keep(make_document(total=total))
    cache.save(desk.cache, REFERENCE, kept)
    path = desk.cache / cache.artifact_name(kept.sha256)
    written = path.stat().st_mtime - MONTH
    os.utime(path, (written, written))
    return path


def test_artifacts_leave_when_no_run_names_them(
    desk: Desk, connection: psycopg.Connection[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    cache.leave_mark(desk.cache)
    named, unnamed = _kept_artifact(desk, "1.00"), _kept_artifact(desk, "2.00")

    dsn = desk.env["DATABASE_URL"]

    prune.run(dsn, desk.cache)
    without_any = capsys.readouterr()
    with closing(Database(dsn)) as database:
        database.run(lambda opened: record(opened, make_full_run()))
    connection.execute("UPDATE budget.receipt_ocr_artifacts SET sha256 = %s", [named.stem])
    prune.run(dsn, desk.cache)

    assert json.loads(without_any.out)["artifacts"] == 0
    assert "names no artifact at all" in without_any.err
    assert json.loads(capsys.readouterr().out)["artifacts"] == 1
    assert (named.exists(), unnamed.exists()) == (True, False)
    assert (desk.cache / cachefiles.current(REFERENCE)).exists()


def test_a_cache_that_is_not_mounted_is_not_pruned(desk: Desk) -> None:
    ran = desk.run("prune")

    assert (ran.code, ran.stdout) == (1, "")
    assert "The cache root is absent or not writable." in ran.stderr
