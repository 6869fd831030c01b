"""One large request, and many beside it: planned over a kill, bounded, fair, stopped in time."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dev.daemon import Daemon
from dev.kubernetes.cluster import Cluster
from dev.stack import Stack
from receipt_contract.requests import API_VERSION, Kind
from receipt_contract.status import MAX_STATUS_BYTES
from receipt_contract.topology import WORK_SIDE
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import WITHIN_SECONDS, Pipeline, count, holds, making
from tests.support.receipts import write_copies
from tests.support.services import Broker

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

KIND = Kind.RECEIPT_REPROCESS
RECEIPTS = 6000  # six chunks of a plan
WINDOW = 100
SMALL_REQUESTS = 20
TRIES = 10


@pytest.fixture(scope="module")
def filled(
    stack: Stack,
    kinds: Cluster,
    broker: Broker,
    database_admin_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Pipeline, str]]:
    """Give a pipeline and a large request in it whose operator was killed as it was planned.

    Nobody answers its work, so it holds the whole window.
    """
    folder: Path = tmp_path_factory.mktemp("large")
    with making(stack, kinds, broker, database_admin_url, folder) as made:
        write_copies(made.receipts, *(f"many/{number:05}.png" for number in range(RECEIPTS)))
        made.start_collector()
        operator = made.start_operator(RECEIPTS_GLOBAL_IN_FLIGHT=str(WINDOW))
        name = _kill_in_the_middle_of_a_plan(made, operator)
        made.start_operator(RECEIPTS_GLOBAL_IN_FLIGHT=str(WINDOW))
        yield made, name


def test_g1_g7_a_plan_goes_on_after_a_kill_and_fills_one_window(
    filled: tuple[Pipeline, str],
) -> None:
    pipeline, name = filled

    status = pipeline.wait(KIND, name, lambda seen: holds(seen, "Accepted"))
    eventually(lambda: _in_flight(pipeline, name) == WINDOW)

    assert status["progress"]["total"] == RECEIPTS
    assert len(json.dumps(status)) <= MAX_STATUS_BYTES


def test_many_requests_have_a_place_each_beside_one_that_fills_the_window(
    filled: tuple[Pipeline, str],
) -> None:
    pipeline, name = filled
    names = [f"small-{number}" for number in range(SMALL_REQUESTS)]
    write_copies(pipeline.receipts, *(f"{one}.png" for one in names))

    _apply_all(pipeline, names)
    eventually(
        lambda: _items(pipeline, "small-%", "published") == SMALL_REQUESTS, within=WITHIN_SECONDS
    )
    in_flight = _in_flight(pipeline, name)
    with answering(pipeline.broker_url):
        eventually(
            lambda: _items(pipeline, "small-%", "done") == SMALL_REQUESTS, within=WITHIN_SECONDS
        )

    assert in_flight == WINDOW
    for one in names:
        assert pipeline.wait_finished(KIND, one)["state"] == "Succeeded"


def test_g7_a_cancel_leaves_one_window_to_be_read(filled: tuple[Pipeline, str]) -> None:
    pipeline, name = filled
    # Nobody answers now, so that nothing is sent between the cancel and the moment it is seen.
    eventually(lambda: _is_all_in_the_queue(pipeline, name), within=WITHIN_SECONDS)
    sent = pipeline.published()
    ended = _items(pipeline, name, "done")

    pipeline.patch(KIND, name, cancel=True)
    pipeline.wait(KIND, name, lambda seen: seen["observedGeneration"] == 2)
    eventually(lambda: _is_ending(pipeline, name))
    with answering(pipeline.broker_url):
        status = pipeline.wait_finished(KIND, name)

    assert status["state"] == "Cancelled"
    assert pipeline.published() == sent
    assert count(status, "done") == ended + WINDOW
    assert count(status, "failed") == RECEIPTS - count(status, "done")
    assert len(json.dumps(status)) <= MAX_STATUS_BYTES


def _kill_in_the_middle_of_a_plan(pipeline: Pipeline, operator: Daemon) -> str:
    """Hold a plan between two of its chunks and kill the operator; return the object's name."""
    with psycopg.connect(pipeline.database_url) as connection:
        for number in range(TRIES):
            name = f"large-{number}"
            target = {"selector": {"pathPrefix": "many/"}}
            pipeline.apply(KIND, name, target=target, maxInFlight=WINDOW)
            if _is_held_in_its_middle(connection, name):
                operator.kill()
                return name
            pipeline.delete(KIND, name)
    raise AssertionError("every plan was whole before it could be held")


def _is_held_in_its_middle(connection: psycopg.Connection, name: str) -> bool:
    """Lock the request's row after the first chunk; False when the last one came before."""
    deadline = time.monotonic() + WITHIN_SECONDS
    while time.monotonic() < deadline:
        row = connection.execute(
            "SELECT state FROM work.requests WHERE name = %s AND plan_cursor IS NOT NULL"
            " FOR UPDATE",
            [name],
        ).fetchone()
        if row is not None and row[0] == "planning":
            return True
        connection.rollback()
        if row is not None:
            return False
        time.sleep(0.005)
    raise AssertionError("no plan began")


def _apply_all(pipeline: Pipeline, names: list[str]) -> None:
    objects = [
        {
            "apiVersion": API_VERSION,
            "kind": KIND.value,
            "metadata": {"name": name},
            "spec": {"target": {"reference": f"{name}.png"}},
        }
        for name in names
    ]
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    pipeline.kubectl("apply", "--filename=-", text=json.dumps(document))


def _in_flight(pipeline: Pipeline, name: str) -> int:
    return _items(pipeline, name, "publishing", "published")


def _is_all_in_the_queue(pipeline: Pipeline, name: str) -> bool:
    """Tell whether the window is full of work, none of which was answered and is not saved yet."""
    waiting: int = pipeline.visit(lambda visitor: visitor.ready(WORK_SIDE.work))
    return waiting == WINDOW == _items(pipeline, name, "published")


def _items(pipeline: Pipeline, name: str, *states: str) -> int:
    """Count the items in these states of the requests of an object; `name` is a SQL pattern."""
    [found] = pipeline.rows(
        """
        SELECT count(*) AS n FROM work.items JOIN work.requests USING (request_id)
         WHERE name LIKE %(name)s AND items.state = ANY(%(states)s)
        """,
        {"name": name, "states": list(states)},
    )
    return int(found["n"])


def _is_ending(pipeline: Pipeline, name: str) -> bool:
    [found] = pipeline.rows(
        "SELECT ending FROM work.requests WHERE name = %(name)s", {"name": name}
    )
    return found["ending"] is not None
