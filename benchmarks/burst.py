"""Many objects created in one burst: how soon each says Published=True, and at what price.

The same burst then meets the least an operator can do (`benchmarks.bare`), which tells how much of
the time belongs to the machine.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from benchmarks import crowd
from benchmarks.table import Figure
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline

WITHIN_SECONDS = 1800.0


def created_at_once(pipeline: Pipeline, objects: int) -> Iterator[Figure]:
    """Create objects as fast as the API server takes them; answer their work only afterwards."""
    yield from _burst(pipeline, [f"burst-{number:05}" for number in range(objects)], "")
    until_published = crowd.operator_writes(pipeline)
    with answering(pipeline.broker_url):
        crowd.wait_finished(pipeline, objects, within=WITHIN_SECONDS)
    until_finished = crowd.operator_writes(pipeline)
    for about, writes in (("then", until_published), ("it finished", until_finished)):
        measure = f"API writes an object until {about}"
        yield Figure("burst", measure, writes.total() / objects, "writes", "lower")
    pipeline.start_in_place_of_operator("benchmarks.bare")
    yield from _burst(pipeline, [f"bare-{number:05}" for number in range(objects)], "bare kopf: ")


def _burst(pipeline: Pipeline, names: Sequence[str], who: str) -> Iterator[Figure]:
    started = time.monotonic()
    crowd.create(pipeline, names)
    creating = time.monotonic() - started
    eventually(lambda: _all_published(pipeline, names), within=WITHIN_SECONDS)
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


def _all_published(pipeline: Pipeline, names: Sequence[str]) -> bool:
    time.sleep(1)
    stories = crowd.stories(pipeline, names)
    return len(stories) == len(names) and all(one.published_at is not None for one in stories)
