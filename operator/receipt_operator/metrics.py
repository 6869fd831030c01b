"""Metrics of the operator beside those of every process."""

from prometheus_client import Counter, Gauge

ACTIVE = Gauge("receipts_requests_active", "Requests that have not finished.")
WAITING = Gauge("receipts_items_waiting", "Receipts that wait to be sent.")
IN_FLIGHT = Gauge("receipts_items_in_flight", "Receipts sent and not yet ended.")
OBJECTS = Gauge("receipts_objects", "Objects of both kinds that are there.")
QUEUED = Gauge("receipts_reconcile_queue", "Objects waiting for reconciliation.")
MIRROR_AGE = Gauge(
    "receipts_mirror_age_seconds", "Time since statuses were last compared with the database."
)
STATUS_WRITES = Counter("receipts_status_writes", "Status writes by kind of object.", ["kind"])
LOOP_FAILURES = Counter("receipts_loop_failures", "Failed rounds of a loop.", ["loop"])
