"""`make bench`: services of its own, a printed table, and `.bench/latest.json`."""

import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import publishing, request, table
from dev import leash
from dev.generate import ROOT
from dev.leash import Leash
from dev.stack import Stack
from tests.support import services
from tests.support.pipeline import Pipeline
from tests.support.services import Broker

RECEIPTS = 2000
QUICK_RECEIPTS = 200
MESSAGES = 50_000
QUICK_MESSAGES = 5_000


def main() -> None:
    """Run every benchmark; QUICK=1 takes a tenth of the work."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    quick = os.environ.get("QUICK") == "1"
    receipts = QUICK_RECEIPTS if quick else RECEIPTS
    stack = Stack(leash.stack_name(os.getpid()))
    held = Leash(stack)
    figures: list[table.Figure] = []
    try:
        stack.up()
        broker = Broker(stack.rabbitmq.url(), stack.rabbitmq.api)
        with services.fresh_vhost(broker, "publishing") as url:
            figures += publishing.by_window(url, QUICK_MESSAGES if quick else MESSAGES)
        for measure in (request.with_answers, request.with_workers):
            with _pipeline(stack, broker) as pipeline:
                pipeline.start_collector()
                pipeline.start_operator()
                figures += measure(pipeline, receipts)
    finally:
        held.release()
    table.show(figures, table.read())
    table.write(figures)


@contextmanager
def _pipeline(stack: Stack, broker: Broker) -> Iterator[Pipeline]:
    name = f"bench-{secrets.token_hex(4)}"
    cluster = stack.cluster
    cluster.kubectl("apply", "--filename", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "--filename", str(ROOT / "crds"))
    cluster.kubectl("create", "namespace", name)
    with (
        services.fresh_vhost(broker, name) as broker_url,
        services.fresh_database(stack.postgres.url(), name) as database_url,
        tempfile.TemporaryDirectory() as folder,
    ):
        made = Pipeline(
            stack,
            cluster,
            namespace=name,
            broker_url=broker_url,
            database_url=database_url,
            folder=Path(folder),
        )
        try:
            yield made
        finally:
            made.close()


if __name__ == "__main__":
    main()
