"""Many objects created in one burst: how soon each says Published=True, and at what price."""

import statistics
import time
from datetime import timedelta

from benchmarks import crowd
from benchmarks.table import Figure
from tests.support.amqp import eventually
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline

WITHIN_SECONDS = 1800.0


def created_at_once(pipeline: Pipeline, objects: int) -> list[Figure]:
    """Create objects as fast as the API server takes them; answer their work only afterwards."""
    names = [f"burst-{number:05}" for number in range(objects)]
    started = time.monotonic()
    crowd.create(pipeline, names)
    creating = time.monotonic() - started
    eventually(lambda: _all_published(pipeline, objects), within=WITHIN_SECONDS)
    stories = crowd.stories(pipeline).values()
    waits = sorted(
        (one.published_at - one.created_at) / timedelta(seconds=1)
        for one in stories
        if one.published_at is not None
    )
    writes = crowd.operator_writes(pipeline).total()
    with answering(pipeline.broker_url):
        crowd.wait_finished(pipeline, objects, within=WITHIN_SECONDS)
    hundredths = statistics.quantiles(waits, n=100)
    return [
        Figure("burst", f"created at once, of {objects}", objects / creating, "objects/s"),
        Figure("burst", "created to Published=True, p50", hundredths[49], "s", "lower"),
        Figure("burst", "created to Published=True, p99", hundredths[98], "s", "lower"),
        Figure("burst", "API writes an object until then", writes / objects, "writes", "lower"),
        Figure(
            "burst",
            "API writes an object until it finished",
            crowd.operator_writes(pipeline).total() / objects,
            "writes",
            "lower",
        ),
    ]


def _all_published(pipeline: Pipeline, objects: int) -> bool:
    time.sleep(1)
    return sum(one.published_at is not None for one in crowd.stories(pipeline).values()) == objects
