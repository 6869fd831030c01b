"""Many objects created in one burst: how soon each says Published=True, and at what price.

Once as fast as the API server takes them, once as people do it: from one file with one command. The
first burst then meets the least an operator can do (`benchmarks.bare`), which tells how much of the
time belongs to the machine.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from benchmarks import crowd, sampling
from benchmarks.table import Figure
from dev.daemon import Daemon
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline

WITHIN_SECONDS = 1800.0


def created_at_once(pipeline: Pipeline, objects: int) -> Iterator[Figure]:
    """Create objects in both ways; answer their work only afterwards."""
    operator = pipeline.start_operator()
    names = [f"burst-{number:05}" for number in range(objects)]
    yield from _burst(pipeline, operator, names, "", crowd.create)
    until_published = crowd.operator_writes(pipeline)
    with answering(pipeline.broker_url):
        crowd.wait_finished(pipeline, objects, within=WITHIN_SECONDS)
    until_finished = crowd.operator_writes(pipeline)
    for about, writes in (("then", until_published), ("it finished", until_finished)):
        measure = f"API writes an object until {about}"
        yield Figure("burst", measure, writes.total() / objects, "writes", "lower")
    names = [f"file-{number:05}" for number in range(objects)]
    yield from _burst(pipeline, operator, names, "one kubectl: ", crowd.create_from_a_file)
    with answering(pipeline.broker_url):
        crowd.wait_finished(pipeline, 2 * objects, within=WITHIN_SECONDS)
    bare = pipeline.start_in_place_of_operator("benchmarks.bare")
    names = [f"bare-{number:05}" for number in range(objects)]
    yield from _burst(pipeline, bare, names, "bare kopf: ", crowd.create)


def _burst(
    pipeline: Pipeline,
    program: Daemon,
    names: Sequence[str],
    who: str,
    create: Callable[[Pipeline, Sequence[str]], None],
) -> Iterator[Figure]:
    took_before = sampling.processor_seconds(program)
    started = time.monotonic()
    create(pipeline, names)
    creating = time.monotonic() - started
    eventually(lambda: _all_published(pipeline, names), within=WITHIN_SECONDS)
    took = sampling.processor_seconds(program) - took_before
    waits = [
        (one.published_at - one.created_at) / timedelta(seconds=1)
        for one in crowd.stories(pipeline, names)
        if one.published_at is not None
    ]
    hundredths = statistics.quantiles(waits, n=100)
    yield Figure(
        "burst", f"{who}created at once, of {len(names)}", len(names) / creating, "objects/s"
    )
    for share in (50, 99):
        measure = f"{who}created to Published=True, p{share}"
        yield Figure("burst", measure, hundredths[share - 1], "s", "lower")
    measure = f"{who}processor time an object until then"
    yield Figure("burst", measure, took * 1000 / len(names), "ms", "lower")


def _all_published(pipeline: Pipeline, names: Sequence[str]) -> bool:
    time.sleep(1)
    stories = crowd.stories(pipeline, names)
    return len(stories) == len(names) and all(one.published_at is not None for one in stories)
