"""One request by selector over many small receipts: real workers, or answers at once.

With answers at once the pipeline itself is measured: plan, window, publication, collector,
mirror. With workers, what a user gets.
"""

import time

from benchmarks import sampling
from benchmarks.table import Figure
from receipt_contract.requests import Kind
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline
from tests.support.receipts import write_small_receipts

MAX_IN_FLIGHT = 100
KIND = Kind.RECEIPT_REPROCESS


def with_workers(pipeline: Pipeline, receipts: int) -> list[Figure]:
    """Read small receipts with two real workers."""
    pipeline.start_worker("worker-1")
    pipeline.start_worker("worker-2")
    return _measure(pipeline, "ocr", receipts)


def with_answers(pipeline: Pipeline, receipts: int) -> list[Figure]:
    """Let a consumer answer work at once."""
    with answering(pipeline.broker_url):
        return _measure(pipeline, "pipeline", receipts)


def _measure(pipeline: Pipeline, name: str, receipts: int) -> list[Figure]:
    references = [f"{name}/{number:06}.png" for number in range(receipts)]
    write_small_receipts(pipeline.receipts, *references, first=20_000)
    target = {"selector": {"pathPrefix": f"{name}/"}}
    with sampling.watching(lambda: _on_their_way(pipeline)) as most:
        started = time.monotonic()
        pipeline.apply(KIND, name, target=target, maxInFlight=MAX_IN_FLIGHT)
        status = pipeline.wait_finished(KIND, name, within=3600)
        seconds = time.monotonic() - started
    progress = status["progress"]
    ended = progress["done"] + progress["failed"] + progress["skipped"]
    writes = pipeline.status_writes(name) or 0
    return [
        Figure(name, f"receipts of {receipts} ended", ended, "receipts"),
        Figure(name, "from apply to Finished", receipts / seconds, "receipts/s"),
        Figure(name, "status writes in a minute", writes / seconds * 60, "writes", "lower"),
        Figure(name, f"most on their way (limit {MAX_IN_FLIGHT})", most.value, "receipts", "lower"),
    ]


def _on_their_way(pipeline: Pipeline) -> int:
    [ended] = pipeline.rows("SELECT count(ended_at) AS n FROM work.items")
    return pipeline.published() - int(ended["n"])
