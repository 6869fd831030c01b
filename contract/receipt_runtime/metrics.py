"""Metrics that every process of ours shows; components add their own beside them."""

from prometheus_client import Counter, Gauge, Histogram

PUBLISHED = Counter(
    "receipts_published", "Publications by what became of them.", ["publisher", "outcome"]
)
CONFIRM_SECONDS = Histogram(
    "receipts_confirm_seconds",
    "Time from writing a message to the broker's confirm.",
    ["publisher"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
DELIVERIES = Counter(
    "receipts_deliveries", "Deliveries by how they were settled.", ["queue", "settlement"]
)
OUTAGES = Counter("receipts_outages", "Outages entered, by reason.", ["consumer", "reason"])
IN_HAND = Gauge("receipts_in_hand", "Deliveries being worked on.", ["consumer"])
RECONNECTS = Counter("receipts_reconnects", "Broker connections lost or refused.", ["link"])
