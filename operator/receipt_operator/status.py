"""The whole status of an object, computed anew from facts, in at most 4 KiB. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from receipt_contract import wire
from receipt_contract.requests import MAX_SUMMARY_LENGTH, Priority, RerunPolicy, shorten
from receipt_contract.status import (
    MAX_HISTORY,
    MAX_REASON_CLASSES,
    MAX_SAMPLE_MESSAGE,
    MAX_SAMPLE_REFERENCE,
    MAX_SAMPLES,
    MAX_STATUS_BYTES,
    Condition,
    ConditionReason,
    Effective,
    Failures,
    FailureSample,
    PastRequest,
    Progress,
    Publication,
    Rate,
    ReasonCount,
    RequestRun,
    RequestStatus,
)
from receipt_operator import conditions
from receipt_operator.facts import Facts
from receipt_operator.register.rows import Request

NO_ETA = "-"

_MINUTE = 60
_HOUR = 3600
_DAY = 86400


def status_of(facts: Facts) -> dict[str, Any]:
    """Return the status as on the wire.

    Samples fill what is left below the limit, history gives way before conditions do.
    """
    before = conditions.conditions_before(facts.observed.status)
    whole = _fixed_part(facts, before)
    history = tuple(_past(one) for one in facts.history[:MAX_HISTORY])
    while history and _size(whole, history=history) > MAX_STATUS_BYTES:
        history = history[:-1]
    whole = whole.model_copy(update={"history": history} if history else {})
    return _with_samples(whole, facts).document()


def _fixed_part(facts: Facts, before: tuple[Condition, ...]) -> RequestStatus:
    return RequestStatus(
        observed_generation=facts.observed.generation,
        state=conditions.state_of(facts),
        conditions=conditions.conditions_of(facts, before),
        run=_run(facts),
        progress=_progress(facts.request),
        rate=_rate(facts),
        publish=_publication(facts),
        queue=None if facts.request.finished else facts.place,
        failures=_failures(facts),
        effective=_effective(facts),
    )


def _run(facts: Facts) -> RequestRun:
    request = facts.request
    return RequestRun(
        id=request.run_id,
        request_id=request.request_id,
        adopted=conditions.is_adopted(facts),
        accepted_time=request.accepted_at,
        start_time=request.started_at,
        finish_time=request.finished_at,
        active_seconds=int(request.active_seconds) if request.finished else None,
    )


def _progress(request: Request) -> Progress:
    counts = request.counts
    total = counts.known if request.total is None else request.total
    return Progress(
        total=total,
        total_is_final=request.total is not None,
        published=counts.confirmed,
        done=counts.done,
        failed=counts.failed,
        skipped=counts.skipped,
        in_flight=counts.in_flight,
        percent=_percent(request, total),
        summary=f"{counts.done}/{total}",
        last_advance_time=request.last_advance_at or request.finished_at,
    )


def _percent(request: Request, total: int) -> int:
    if request.finished:
        return 0 if request.result in conditions.REFUSALS else 100
    return min(request.counts.ended * 100 // total, 99) if total else 0


def _rate(facts: Facts) -> Rate | None:
    if facts.request.finished:
        return Rate(per_minute="0", eta=NO_ETA)
    pace = facts.pace
    if pace is None or pace.seconds_left is None:
        return Rate(per_minute=_decimal(pace.per_minute if pace else 0.0), eta=NO_ETA)
    return Rate(
        per_minute=_decimal(pace.per_minute),
        eta=eta_text(pace.seconds_left),
        basis=pace.basis,
    )


def _decimal(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def eta_text(seconds: float) -> str:
    """Round a time left for people: `~40s`, `~14m`, `~3h10m`, `~2d4h`."""
    if seconds < _MINUTE:
        return f"~{max(round(seconds / 5) * 5, 5)}s"
    if seconds < _HOUR:
        return f"~{round(seconds / _MINUTE)}m"
    if seconds < _DAY:
        minutes = round(seconds / _MINUTE / 5) * 5
        return f"~{minutes // 60}h{minutes % 60:02d}m"
    hours = round(seconds / _HOUR)
    return f"~{hours // 24}d{hours % 24}h"


def _publication(facts: Facts) -> Publication:
    request = facts.request
    obstacle = facts.obstacle
    if request.finished or obstacle is None:
        return Publication(publications=request.counts.publications)
    return Publication(
        publications=request.counts.publications,
        last_problem=obstacle.reason,
        last_problem_time=_known_since(facts.observed.status, obstacle.reason) or obstacle.since,
    )


def _known_since(status: Mapping[str, Any], problem: ConditionReason) -> datetime | None:
    """Return since when the object says that this is the problem."""
    try:
        said = Publication.model_validate(status.get("publish"))
    except ValidationError:
        return None
    return said.last_problem_time if said.last_problem is problem else None


def _failures(facts: Facts) -> Failures | None:
    if not facts.failures.by_reason:
        return None
    top = list(facts.failures.by_reason.items())[:MAX_REASON_CLASSES]
    return Failures(
        by_reason=tuple(ReasonCount(reason=reason, count=n) for reason, n in top),
        samples=(),
        query=f"ledger requests show {facts.request.request_id} --state failed",
    )


def _effective(facts: Facts) -> Effective:
    spec = facts.spec
    return Effective(
        target=shorten(spec.target.summary, MAX_SUMMARY_LENGTH),
        priority=spec.priority or Priority.NORMAL,
        max_in_flight=spec.max_in_flight or facts.default_max_in_flight,
        dry_run=bool(spec.dry_run),
        rerun_policy=spec.rerun_policy or RerunPolicy.NEW_RUN_ID,
        max_items=spec.max_items,
        active_deadline_seconds=spec.active_deadline_seconds,
        failure_threshold_percent=spec.failure_threshold_percent,
        ttl_seconds_after_finished=spec.ttl_seconds_after_finished,
        kept_because=facts.kept,
    )


def _past(request: Request) -> PastRequest:
    if request.result is None or request.finished_at is None:
        raise ValueError("history holds finished requests only")
    return PastRequest(
        run_id=request.run_id,
        request_id=request.request_id,
        result=conditions.FINAL_STATES[request.result],
        total=request.total or 0,
        done=request.counts.done,
        failed=request.counts.failed,
        skipped=request.counts.skipped,
        finish_time=request.finished_at,
    )


def _with_samples(whole: RequestStatus, facts: Facts) -> RequestStatus:
    if whole.failures is None:
        return whole
    samples: list[FailureSample] = []
    for reference, reason in facts.failures.samples[:MAX_SAMPLES]:
        sample = FailureSample(
            reference=shorten(reference, MAX_SAMPLE_REFERENCE),
            reason=reason,
            message=shorten(reason.sentence, MAX_SAMPLE_MESSAGE),
        )
        tried = whole.failures.model_copy(update={"samples": (*samples, sample)})
        if _size(whole, failures=tried) > MAX_STATUS_BYTES:
            break
        samples.append(sample)
    failures = whole.failures.model_copy(update={"samples": tuple(samples)})
    return whole.model_copy(update={"failures": failures})


def _size(whole: RequestStatus, **changes: object) -> int:
    return len(wire.dumps(whole.model_copy(update=changes).document()))
