"""Commands that send something again: dead letters, and what a request still waits for."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import psycopg
import pytest

from receipt_collector import failures
from receipt_collector.store.database import Database
from receipt_contract import results, work
from receipt_contract.topology import REASON_HEADER
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from tests.integration.cli.conftest import Desk
from tests.support.results import make_run, reference, sha

pytestmark = pytest.mark.services

REQUEST = str(uuid.UUID(int=77))


def _dead_work(digit: int = 1, *, reason: str = "engine_failed") -> failures.Failure:
    dead = ProcessWork(source_sha256=sha(digit), source_reference=reference(digit), attempt=3)
    return failures.read_work(work.encode(dead), {REASON_HEADER: reason})


def _keep(desk: Desk, *dead: failures.Failure) -> list[str]:
    """Keep dead letters as the collector does; returns their ids."""
    with closing(Database(desk.env["DATABASE_URL"])) as database:
        for failure in dead:
            database.run(partial(failures.record, failure=failure))
    return [str(failure.row.failure_id) for failure in dead]


def _left(desk: Desk) -> set[str]:
    return {line["failure_id"] for line in desk.run("dead", "list").lines}


@pytest.fixture(autouse=True)
def _emptied(desk: Desk) -> Iterator[None]:
    """Leave no letter and no request to the next test."""
    yield
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute("TRUNCATE budget.receipt_failures, work.requests CASCADE")


def test_a_replayed_letter_is_sent_with_all_attempts_and_forgotten(desk: Desk) -> None:
    chosen, other = _keep(desk, _dead_work(1), _dead_work(2))

    ran = desk.run("dead", "replay", chosen)

    assert (ran.code, ran.lines) == (0, [{"kept": 0, "replayed": 1}])
    assert desk.sent() == [ProcessWork(source_sha256=sha(1), source_reference=reference(1))]
    assert _left(desk) == {other}


def test_all_letters_of_a_reason_are_replayed_and_others_kept(desk: Desk) -> None:
    _, kept = _keep(desk, _dead_work(1), _dead_work(2, reason="corrupt"))

    ran = desk.run("dead", "replay", "--all", "--reason", "engine_failed")

    assert ran.lines == [{"kept": 0, "replayed": 1}]
    assert [each.source_reference for each in desk.sent()] == [reference(1)]
    assert _left(desk) == {kept}


def test_a_result_that_was_not_saved_is_asked_for_again(desk: Desk) -> None:
    _keep(desk, failures.read_result(results.encode(make_run(attempt=3)), {}))

    ran = desk.run("dead", "replay", "--all")

    assert ran.code == 0
    assert desk.sent() == [ProcessWork(source_sha256=sha(1), source_reference=reference(1))]


def test_a_letter_that_does_not_tell_what_to_send_is_kept(desk: Desk) -> None:
    ids = _keep(desk, failures.read_work(b"no message of ours", {}))

    ran = desk.run("dead", "replay", "--all")

    assert (ran.code, ran.lines) == (1, [{"kept": 1, "replayed": 0}])
    assert _left(desk) == set(ids)


def test_no_letter_is_forgotten_whose_replay_was_not_confirmed(desk: Desk) -> None:
    ids = _keep(desk, _dead_work())

    ran = desk.run("dead", "replay", "--all", RABBITMQ_URL="amqp://127.0.0.1:1")

    assert (ran.code, ran.lines) == (1, [{"kept": 0, "replayed": 0}])
    assert _left(desk) == set(ids)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="neither ids nor all"),
        pytest.param((REQUEST, "--all"), id="ids and all"),
        pytest.param(("--all", "--reason", "bad_luck"), id="a reason there is not"),
    ],
)
def test_letters_are_chosen_on_purpose(desk: Desk, arguments: tuple[str, ...]) -> None:
    ids = _keep(desk, _dead_work())

    ran = desk.run("dead", "purge", *arguments)

    assert (ran.code, ran.stdout) == (1, "")
    assert _left(desk) == set(ids)


def test_only_old_letters_are_purged_on_demand(desk: Desk) -> None:
    old, new = _keep(desk, _dead_work(1), _dead_work(2))
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE budget.receipt_failures SET last_failed_at = now() - interval '91 days'"
            " WHERE failure_id = %s",
            [old],
        )

    ran = desk.run("dead", "purge", "--all", "--older-than-days", "90")
    again = desk.run("dead", "purge", "--all", "--older-than-days", "90")

    assert (ran.code, ran.lines) == (0, [{"purged": 1}])
    assert (again.code, again.lines) == (2, [{"purged": 0}])
    assert _left(desk) == {new}


def _ask(desk: Desk, *, kind: str, states: tuple[str, ...]) -> None:
    """Register an open request with one receipt in each of these states."""
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute(
            "INSERT INTO work.requests (request_id, cluster, namespace, kind, name, run_id,"
            " object_uid, wish, state, total) VALUES (%s, 'c', 'n', %s, 'x', 'r', 'u', '{}',"
            " 'open', %s)",
            [REQUEST, kind, len(states)],
        )
        for digit, state in enumerate(states, start=1):
            connection.execute(
                "INSERT INTO work.items (request_id, reference, source_sha256, state)"
                " VALUES (%s, %s, %s, %s)",
                [REQUEST, reference(digit), sha(digit), state],
            )


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        pytest.param("ReceiptReprocess", ReprocessWork, id="a reprocess"),
        pytest.param("CacheRebuild", CacheRebuildWork, id="a rebuild"),
    ],
)
def test_what_a_request_waits_for_is_sent_again_under_the_same_ids(
    desk: Desk, kind: str, shape: type[ReprocessWork | CacheRebuildWork]
) -> None:
    _ask(desk, kind=kind, states=("done", "published", "planned", "failed"))

    ran = desk.run("requests", "republish", REQUEST)

    assert (ran.code, ran.lines) == (0, [{"published": 1, "request_id": REQUEST}])
    assert desk.sent() == [
        shape(source_sha256=sha(2), source_reference=reference(2), request_id=REQUEST)
    ]


def test_a_watched_request_is_followed_to_its_end(desk: Desk) -> None:
    _ask(desk, kind="CacheRebuild", states=("published",))

    def end() -> None:
        with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
            connection.execute(
                "UPDATE work.requests SET state = 'finished', finished_at = now(), done = 1,"
                " failed = 0, skipped = 0, result = 'Succeeded'"
            )

    later = threading.Timer(1.0, end)
    later.start()
    ran = desk.run("requests", "watch", REQUEST, "--every", "0.1")
    later.join()

    assert ran.code == 0
    assert ran.lines[-1]["state"] == "finished"


def test_a_finished_request_is_not_sent_again(desk: Desk) -> None:
    _ask(desk, kind="CacheRebuild", states=("published",))
    with psycopg.connect(desk.env["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE work.requests SET state = 'finished', finished_at = now(), result = 'Failed'"
        )

    ran = desk.run("requests", "republish", REQUEST)

    assert (ran.code, ran.stdout, desk.sent()) == (1, "", [])
    assert "a new runId" in ran.stderr
