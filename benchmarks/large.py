"""One request of very many receipts, and many requests at once; answers come at once."""

import json
import time
from collections.abc import Mapping

from benchmarks import crowd, sampling
from benchmarks.table import Figure
from dev.daemon import Daemon
from receipt_contract.requests import Kind
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline
from tests.support.receipts import write_copies

KIND = Kind.RECEIPT_REPROCESS
WINDOW = 5_000
WITHIN_SECONDS = 14_400.0
REQUESTS = 100
GLOBAL_WINDOW = 50  # less than a place for each


def one_request(pipeline: Pipeline, receipts: int) -> list[Figure]:
    """Kill the operator as it plans, let the request end; cancel a second one on its way."""
    operator = pipeline.start_operator()
    write_copies(pipeline.receipts, *(f"large/{number:06}.png" for number in range(receipts)))
    target = {"selector": {"pathPrefix": "large/"}}
    pipeline.apply(KIND, "large", target=target, maxInFlight=WINDOW)
    eventually(lambda: _planned(pipeline, "large") >= receipts // 4, within=WITHIN_SECONDS)
    operator.kill()
    killed_at = _planned(pipeline, "large")
    operator = pipeline.start_operator()
    started = time.monotonic()
    with (
        sampling.watching(lambda: sampling.memory_mb(operator)) as memory,
        sampling.watching(lambda: _in_flight(pipeline)) as in_flight,
        answering(pipeline.broker_url),
    ):
        status = pipeline.wait_finished(KIND, "large", within=WITHIN_SECONDS)
        seconds = time.monotonic() - started
        cancelled = _cancel_on_its_way(pipeline, target)
    size = len(json.dumps(status, separators=(",", ":")))
    done = status["progress"]["done"]
    return [
        Figure("large", "receipts planned when the operator was killed", killed_at, "receipts"),
        Figure("large", f"receipts of {receipts} done", done, "receipts"),
        Figure("large", "from the restart to Finished", done / seconds, "receipts/s"),
        Figure("large", "operator's memory at most", memory.value, "MiB", "lower"),
        Figure("large", f"most in flight (limit {WINDOW})", in_flight.value, "receipts", "lower"),
        Figure("large", "size of the status", size, "bytes", "lower"),
        *cancelled,
    ]


def _cancel_on_its_way(pipeline: Pipeline, target: Mapping[str, object]) -> list[Figure]:
    sent_before = pipeline.published()
    pipeline.apply(KIND, "cancelled", target=target, maxInFlight=WINDOW)
    eventually(
        lambda: pipeline.published() - sent_before > 2 * WINDOW or _is_all_sent(pipeline),
        within=WITHIN_SECONDS,
    )
    sent = pipeline.published()
    started = time.monotonic()
    pipeline.patch(KIND, "cancelled", cancel=True)
    pipeline.wait_finished(KIND, "cancelled", within=WITHIN_SECONDS)
    return [
        Figure("large", "sent after a cancel", pipeline.published() - sent, "receipts", "lower"),
        Figure("large", "from cancel to Finished", time.monotonic() - started, "s", "lower"),
    ]


def many_requests(pipeline: Pipeline, receipts: int) -> list[Figure]:
    """Ask with a hundred objects at once where the window has places for half of them."""
    operator: Daemon = pipeline.start_operator(RECEIPTS_GLOBAL_IN_FLIGHT=str(GLOBAL_WINDOW))
    for number in range(REQUESTS):
        names = [f"part-{number:03}/{one:04}.png" for one in range(receipts // REQUESTS)]
        write_copies(pipeline.receipts, *names)
    started = time.monotonic()
    for number in range(REQUESTS):
        target = {"selector": {"pathPrefix": f"part-{number:03}/"}}
        pipeline.apply(KIND, f"part-{number:03}", target=target)
    eventually(lambda: _with_a_place(pipeline) == REQUESTS, within=WITHIN_SECONDS)
    placed = time.monotonic() - started
    in_flight = _in_flight(pipeline)
    with answering(pipeline.broker_url):
        crowd.wait_finished(pipeline, REQUESTS, within=WITHIN_SECONDS)
    seconds = time.monotonic() - started
    return [
        Figure("requests", f"until each of {REQUESTS} had a place", placed, "s", "lower"),
        Figure("requests", f"in flight then (window {GLOBAL_WINDOW})", in_flight, "receipts"),
        Figure("requests", "all ended", receipts / seconds, "receipts/s"),
        Figure("requests", "operator's memory", sampling.memory_mb(operator), "MiB", "lower"),
    ]


def _planned(pipeline: Pipeline, name: str) -> int:
    [found] = pipeline.rows(
        "SELECT count(*) AS n FROM work.items JOIN work.requests USING (request_id)"
        " WHERE name = %(name)s",
        {"name": name},
    )
    return int(found["n"])


def _in_flight(pipeline: Pipeline) -> int:
    [found] = pipeline.rows(
        "SELECT coalesce(sum(publishing + published), 0) AS n FROM work.tallies"
    )
    return int(found["n"])


def _is_all_sent(pipeline: Pipeline) -> bool:
    [found] = pipeline.rows("SELECT coalesce(sum(planned), 0) AS n FROM work.tallies")
    return bool(found["n"] == 0)


def _with_a_place(pipeline: Pipeline) -> int:
    [found] = pipeline.rows(
        "SELECT count(DISTINCT request_id) AS n FROM work.items WHERE state = 'published'"
    )
    return int(found["n"])
