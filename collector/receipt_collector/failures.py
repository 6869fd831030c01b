"""Dead letters become rows, so that every request ends and people see why.

`read_work` and `read_result` are pure and read anything; `record` writes in the caller's
transaction. A row holds a reason, its fixed sentence and identities. Of a result event, whose body
holds receipt text, it holds no more than hash and size.
"""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from receipt_collector.store import failures, ingest, locks, requests
from receipt_collector.store.database import Connection
from receipt_collector.store.failures import FailureRow
from receipt_collector.store.requests import RegisterState
from receipt_contract import newer, results, work
from receipt_contract.errors import FailureClass, PermanentError, Reason
from receipt_contract.newer import Envelope
from receipt_contract.results import PassEvent, ResultEvent
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE, WORK_SIDE, Side
from receipt_contract.work import MAX_ATTEMPTS, ProcessWork

# Fixed for ever: a message that fails again finds its row by it.
FAILURE_NAMESPACE = uuid.UUID("0c0b6f0e-3a0f-5a55-8c1f-5d2f6c7c1a94")

# Trying the same bytes again gives the same end, so discovery is told that tries are used up.
_EXHAUSTING = frozenset({FailureClass.CONTENT, FailureClass.ATTEMPT, FailureClass.MESSAGE})

# What it means that the broker itself set a message aside after too many deliveries.
_CUT_OFF = {WORK_SIDE: Reason.WORKER_CRASHED, RESULTS_SIDE: Reason.INTERNAL_ERROR}


@dataclass(frozen=True)
class Failure:
    """A dead letter: the row it becomes, and what ends with it."""

    row: FailureRow
    ends_reading: bool = False  # the normal reading of its source
    ends_item: bool = False  # the item of its request


def read_work(body: bytes, headers: Mapping[str, object]) -> Failure:
    """Read a dead letter of the work side."""
    try:
        message = work.decode(body)
    except PermanentError as error:
        return _unreadable(body, side=WORK_SIDE, reason=_reason(headers, WORK_SIDE, error.reason))
    is_normal = isinstance(message, ProcessWork)
    row = FailureRow(
        failure_id=_failure_id(message.message_id, message.source_reference),
        side=WORK_SIDE.prefix,
        reason=_reason(headers, WORK_SIDE, Reason.INTERNAL_ERROR),
        body=body,
        body_sha256=_hash(body),
        body_bytes=len(body),
        message_type=message.type,
        message_id=message.message_id,
        source_reference=message.source_reference,
        source_sha256=message.source_sha256,
        request_id=None if isinstance(message, ProcessWork) else message.request_id,
        attempts=message.attempt,
    )
    return Failure(row, ends_reading=is_normal, ends_item=not is_normal)


def read_result(body: bytes, headers: Mapping[str, object]) -> Failure:
    """Read a dead letter of the result side."""
    event: ResultEvent | Envelope | None
    try:
        event, otherwise = results.decode(body), Reason.INTERNAL_ERROR
    except PermanentError as error:
        otherwise = error.reason
        event = newer.envelope(body) if otherwise is Reason.NEWER_SCHEMA else None
    reason = _reason(headers, RESULTS_SIDE, otherwise)
    if event is None:
        return _unreadable(body, side=RESULTS_SIDE, reason=reason)
    request_id = _request_id(event)
    row = FailureRow(
        failure_id=_failure_id(event.message_id, event.source_reference),
        side=RESULTS_SIDE.prefix,
        reason=reason,
        body_sha256=_hash(body),
        body_bytes=len(body),
        message_type=event.event_type,
        message_id=event.message_id,
        source_reference=event.source_reference,
        source_sha256=event.source_sha256,
        request_id=request_id,
        run_uuid=event.run_uuid,
        pass_id=event.pass_id,
        attempts=event.attempt,
    )
    return Failure(
        row,
        ends_reading=event.pass_id is None and request_id is None,
        ends_item=request_id is not None,
    )


def without_texts(failure: Failure) -> Failure:
    """Return the failure as hash and size alone, for texts that PostgreSQL cannot hold."""
    row = failure.row
    return _least(row.side, row.reason, body_sha256=row.body_sha256, body_bytes=row.body_bytes)


def record(connection: Connection, failure: Failure) -> None:
    """Keep the row; end the item of an open request, or the normal reading of a source."""
    row = failure.row
    if row.source_sha256 is not None:
        locks.source(connection, row.source_sha256)
    failures.upsert(connection, row)
    if failure.ends_reading:
        _end_reading(connection, row)
    if failure.ends_item:
        _end_item(connection, row)


def _end_reading(connection: Connection, row: FailureRow) -> None:
    if row.source_sha256 is None or row.source_reference is None:
        return
    ingest.discover(connection, sha256=row.source_sha256, reference=row.source_reference)
    ingest.fail(
        connection,
        sha256=row.source_sha256,
        attempts=MAX_ATTEMPTS if _exhausts(row.reason) else 0,
        sentence=row.reason.sentence,
    )


def _exhausts(reason: Reason) -> bool:
    if reason is Reason.NEWER_SCHEMA:  # the same event is read once the collector is upgraded
        return False
    return reason.failure_class in _EXHAUSTING


def _end_item(connection: Connection, row: FailureRow) -> None:
    if row.request_id is None or row.source_reference is None:
        return
    if requests.hold(connection, row.request_id) is RegisterState.OPEN:
        requests.end_failed(
            connection,
            request_id=row.request_id,
            reference=row.source_reference,
            reason=row.reason,
        )


def _request_id(event: ResultEvent | Envelope) -> str | None:
    if isinstance(event, PassEvent):
        return None
    return event.request_id if isinstance(event, Envelope) else event.payload.request_id


def _unreadable(body: bytes, *, side: Side, reason: Reason) -> Failure:
    return _least(side.prefix, reason, body_sha256=_hash(body), body_bytes=len(body))


def _least(side: str, reason: Reason, *, body_sha256: str, body_bytes: int) -> Failure:
    return Failure(
        FailureRow(
            failure_id=uuid.uuid5(FAILURE_NAMESPACE, f"{side}\nbody\n{body_sha256}"),
            side=side,
            reason=reason,
            body_sha256=body_sha256,
            body_bytes=body_bytes,
        )
    )


def _reason(headers: Mapping[str, object], side: Side, otherwise: Reason) -> Reason:
    """Read why a message died; the broker's own word is younger than a header of ours."""
    if _was_cut_off(headers, side):
        return _CUT_OFF[side]
    try:
        return Reason(str(headers.get(REASON_HEADER)))
    except ValueError:
        return otherwise


def _was_cut_off(headers: Mapping[str, object], side: Side) -> bool:
    deaths = headers.get("x-death")
    return isinstance(deaths, list) and any(
        isinstance(death, dict)
        and death.get("reason") == "delivery_limit"
        and death.get("queue") == side.work
        for death in deaths
    )


def _failure_id(message_id: str, reference: str) -> uuid.UUID:
    # A reference out of JSON may hold half a surrogate pair, which no strict encoding takes.
    named = f"{message_id}\n{reference}".encode("utf-8", "surrogatepass")
    return uuid.uuid5(FAILURE_NAMESPACE, f"message\n{_hash(named)}")


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
