"""What the worker shows beside the metrics that every process shows."""

from enum import StrEnum

from prometheus_client import Counter, Histogram

from receipt_worker.document import Reading


class Origin(StrEnum):
    """Where an answer came from."""

    READ = "read"
    KEPT = "kept"  # an earlier run, told again


RECEIPTS = Counter(
    "receipts_answered", "Deliveries answered with events.", ["mode", "status", "origin"]
)
READING_SECONDS = Histogram(
    "receipts_reading_seconds",
    "Time of one OCR of one receipt.",
    ["status"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 120, 300, 600),
)
PASS_SECONDS = Histogram(
    "receipts_pass_seconds",
    "Time of one engine on one variant of one page.",
    ["engine", "variant", "status"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20),
)


def observe_reading(reading: Reading, seconds: float) -> None:
    """Record one reading and its passes."""
    READING_SECONDS.labels(status=reading.extraction.status).observe(seconds)
    for record in reading.passes:
        PASS_SECONDS.labels(
            engine=record.engine, variant=record.variant, status=record.status
        ).observe(record.seconds)
