"""One result event, applied in one transaction; the file to read first.

Order: the source's lock, what is known, the gate, effects, inbox, the end of the item. The caller
commits and then acknowledges, so a crash in between costs a redelivery and nothing else.
"""

from receipt_collector import extraction, gate
from receipt_collector.gate import Effect, InboxOutcome, Recorded, Seen
from receipt_collector.store import inbox, ingest, locks, receipts, requests, runs
from receipt_collector.store.database import Connection
from receipt_collector.store.receipts import Evidence
from receipt_collector.store.requests import RegisterState, RequestKind
from receipt_contract import older
from receipt_contract.errors import AttemptError, Reason
from receipt_contract.results import AnyRunEvent, PassEvent, PersistenceMode, ResultEvent

_KINDS = {
    PersistenceMode.REPROCESS: RequestKind.REPROCESS,
    PersistenceMode.CACHE_ONLY: RequestKind.CACHE,
}


def record(connection: Connection, event: ResultEvent) -> Recorded:
    """Apply an event together with all that follows from it.

    Raises AttemptError(RUN_UNKNOWN) for a pass that came before its run.
    """
    locks.source(connection, event.source_sha256)
    if isinstance(event, PassEvent):
        return _record_pass(connection, event)
    return _record_run(connection, event)


def _record_run(connection: Connection, event: AnyRunEvent) -> Recorded:
    evidence = receipts.find(connection, event.source_sha256)
    seen = Seen(
        known=inbox.knows(connection, event.message_id),
        has_evidence=evidence is not None,
        completed=_completed(connection, event),
    )
    decision = gate.decide(event.payload.persistence_mode, seen)
    match decision.effect:
        case Effect.EXTRACTION:
            extraction.save(connection, event)
        case Effect.RUN if evidence is not None:
            extraction.save_run(
                connection,
                event,
                evidence_id=evidence.id,
                merchant=older.main_fields(event).merchant,
            )
        case _:
            _repair(connection, event, evidence)
    inbox.add(connection, event, decision.outcome)
    _complete_request(connection, event)
    return decision.recorded


def _record_pass(connection: Connection, event: PassEvent) -> Recorded:
    if runs.add_pass(connection, event):
        is_new = inbox.add(connection, event, InboxOutcome.STORED)
        return Recorded.STORED if is_new else Recorded.DUPLICATE
    if not inbox.knows_run(connection, event.run_uuid):
        raise AttemptError(Reason.RUN_UNKNOWN)
    inbox.add(connection, event, InboxOutcome.REFUSED)
    return Recorded.RUN_NOT_STORED


def _completed(connection: Connection, event: AnyRunEvent) -> bool:
    request_id = event.payload.request_id
    if request_id is None:
        return False
    return requests.completed(
        connection,
        kind=_KINDS[event.payload.persistence_mode],
        sha256=event.source_sha256,
        request_id=request_id,
    )


def _repair(connection: Connection, event: AnyRunEvent, evidence: Evidence | None) -> None:
    """Tell discovery that the receipt is read, where its own memory was lost."""
    if event.payload.persistence_mode is PersistenceMode.NORMAL and evidence is not None:
        ingest.discover(connection, sha256=event.source_sha256, reference=event.source_reference)
        ingest.repair(
            connection, sha256=event.source_sha256, status=extraction.ingest_status(evidence)
        )


def _complete_request(connection: Connection, event: AnyRunEvent) -> None:
    """Complete the request for the source and end its item, also for a known event.

    Two references with the same bytes are two items that one run answers with one event id.
    """
    request_id = event.payload.request_id
    if request_id is None:
        return
    requests.complete(
        connection,
        kind=_KINDS[event.payload.persistence_mode],
        sha256=event.source_sha256,
        request_id=request_id,
    )
    match requests.hold(connection, request_id):
        case RegisterState.OPEN:
            requests.end_done(connection, request_id=request_id, reference=event.source_reference)
        case RegisterState.FINISHED:
            requests.mark_late(connection, request_id=request_id, reference=event.source_reference)
        case RegisterState.ABSENT:
            pass
