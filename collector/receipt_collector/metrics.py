"""What the collector shows beside the metrics that every process shows."""

from prometheus_client import Counter, Histogram

EVENTS = Counter(
    "receipts_collected", "Result events by what became of them.", ["event_type", "outcome"]
)
COMMIT_SECONDS = Histogram(
    "receipts_commit_seconds",
    "Time from the start of an event's transaction to its commit.",
    ["event_type"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
LAG_SECONDS = Histogram(
    "receipts_collected_lag_seconds",
    "Time from an event's publication, in whole seconds, to its commit.",
    ["event_type"],
    buckets=(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600),
)
FAILURES = Counter("receipts_failures", "Dead letters kept as rows.", ["side", "reason"])
