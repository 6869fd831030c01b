"""Many objects at once: the operator's memory, and what a restart among finished ones costs."""

import time
from collections import Counter

from benchmarks import crowd, sampling
from benchmarks.table import Figure
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline

WITHIN_SECONDS = 7200.0
LOOKS_SECONDS = 15.0  # in which an operator that has something to write would


def finished_ones(pipeline: Pipeline, objects: int) -> list[Figure]:
    """Let a tenth of the objects finish, then all; then start the operator again."""
    operator = pipeline.start_operator()
    tenth = [f"object-{number:05}" for number in range(objects // 10)]
    rest = [f"object-{number:05}" for number in range(objects // 10, objects)]
    figures = []
    with answering(pipeline.broker_url):
        for names, there in ((tenth, len(tenth)), (rest, objects)):
            crowd.create(pipeline, names)
            crowd.wait_finished(pipeline, there, within=WITHIN_SECONDS)
            memory = sampling.memory_mb(operator)
            figures.append(
                Figure("objects", f"operator's memory, {there} objects", memory, "MiB", "lower")
            )
    operator.stop()
    writes, sent = crowd.operator_writes(pipeline), pipeline.published()
    started = time.monotonic()
    operator = pipeline.start_operator()
    ready = time.monotonic() - started
    eventually(lambda: _has_seen(pipeline, objects), within=WITHIN_SECONDS)
    seen = time.monotonic() - started
    time.sleep(LOOKS_SECONDS)
    more: Counter[str] = crowd.operator_writes(pipeline) - writes
    memory = sampling.memory_mb(operator)
    return [
        *figures,
        Figure("objects", "restart: until ready", ready, "s", "lower"),
        Figure("objects", f"restart: until {objects} were reconciled", seen, "s", "lower"),
        Figure("objects", "restart: API writes", more.total(), "writes", "lower"),
        Figure("objects", "restart: messages", pipeline.published() - sent, "messages", "lower"),
        Figure("objects", "restart: operator's memory", memory, "MiB", "lower"),
    ]


def _has_seen(pipeline: Pipeline, objects: int) -> bool:
    time.sleep(1)
    metrics = pipeline.metrics("operator")
    return metrics["receipts_objects"] == objects and metrics["receipts_reconcile_queue"] == 0
