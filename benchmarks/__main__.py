"""`make bench`: services of its own, a printed table, and `.bench/latest.json`.

ARGS="burst large" runs the named ones only; the figures of the others stay as they were.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import burst, large, looking, objects, publishing, request, table
from benchmarks.table import Figure
from dev import leash
from dev.leash import Leash
from dev.stack import Stack
from receipt_collector import schema
from tests.support import services
from tests.support.pipeline import Pipeline, install_kinds, making
from tests.support.services import Broker

QUICK_SHARE = 10  # a quick run takes a tenth of the work

# How much each takes: messages, receipts, objects or items.
WHOLE = {
    "publishing": 50_000,
    "pipeline": 2_000,
    "ocr": 2_000,
    "burst": 1_000,
    "objects": 10_000,
    "large": 100_000,
    "requests": 10_000,
    "looking": 1_000_000,
}
ON_A_PIPELINE: dict[str, Callable[[Pipeline, int], Iterable[Figure]]] = {
    "pipeline": request.with_answers,
    "ocr": request.with_workers,
    "burst": burst.created_at_once,
    "objects": objects.finished_ones,
    "large": large.one_request,
    "requests": large.many_requests,
}


def main() -> None:
    """Run the benchmarks that are named, or all; QUICK=1 takes a tenth of the work."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = sys.argv[1:] or list(WHOLE)
    if unknown := set(chosen) - set(WHOLE):
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(WHOLE)}")
    stack = Stack(leash.stack_name(os.getpid()))
    held = Leash(stack)
    figures: list[Figure] = []
    before = table.read()
    try:
        stack.up()
        for name in chosen:
            figures += _run(stack, name, _amount(name))
            table.write(figures, before)  # what was measured stays, whatever comes after it
    finally:
        held.release()
        table.show(figures, before)


def _amount(name: str) -> int:
    quick = os.environ.get("QUICK") == "1"
    return WHOLE[name] // QUICK_SHARE if quick else WHOLE[name]


def _run(stack: Stack, name: str, amount: int) -> list[Figure]:
    broker = Broker(stack.rabbitmq.url(), stack.rabbitmq.api)
    if name == "publishing":
        with services.fresh_vhost(broker, name) as url:
            return list(publishing.by_window(url, amount))
    if name == "looking":
        with services.fresh_database(stack.postgres.url(), name) as url:
            schema.setup(url)
            return list(looking.at_open_items(url, amount))
    with _pipeline(stack, broker) as pipeline:
        return list(ON_A_PIPELINE[name](pipeline, amount))


@contextmanager
def _pipeline(stack: Stack, broker: Broker) -> Iterator[Pipeline]:
    """Give a pipeline with an operator and a collector."""
    install_kinds(stack.cluster)
    with (
        tempfile.TemporaryDirectory() as folder,
        making(stack, stack.cluster, broker, stack.postgres.url(), Path(folder)) as made,
    ):
        made.start_collector()
        made.start_operator()
        yield made


if __name__ == "__main__":
    main()
