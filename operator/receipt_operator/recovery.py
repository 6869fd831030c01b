"""How a request ended, read back from its object's status: for a register that was lost. Pure."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from receipt_contract.status import ConditionReason, ConditionStatus, ConditionType, RequestStatus
from receipt_operator.conditions import FINAL_STATES
from receipt_operator.register.requests import Frozen
from receipt_operator.register.rows import Counts

# What an object says that came after the end of its request.
_AS_FROZEN = {ConditionReason.ALREADY_COMPLETED: ConditionReason.COMPLETED}


def from_status(status: Mapping[str, Any], request_id: str) -> Frozen | None:
    """Return what is to be frozen, or None unless the status says that this request finished."""
    try:
        said = RequestStatus.model_validate(status)
    except ValidationError:
        return None
    if said.run is None or said.run.request_id != request_id or said.progress is None:
        return None
    finished = next((c for c in said.conditions if c.type is ConditionType.FINISHED), None)
    if finished is None or finished.status is not ConditionStatus.TRUE:
        return None
    result = _AS_FROZEN.get(finished.reason, finished.reason)
    if result not in FINAL_STATES:
        return None
    progress = said.progress
    publications = said.publish.publications if said.publish else 0
    return Frozen(
        result=result,
        total=progress.total,
        counts=Counts(done=progress.done, failed=progress.failed, skipped=progress.skipped),
        summary=_summary(said) | {"confirmed": progress.published, "publications": publications},
        accepted_at=said.run.accepted_time,
        started_at=said.run.start_time,
        finished_at=said.run.finish_time,
        active_seconds=said.run.active_seconds or 0,
    )


def was_seen(status: Mapping[str, Any], request_id: str) -> bool:
    """Tell whether the status speaks about this request, so that it was taken in before."""
    run = status.get("run")
    return isinstance(run, Mapping) and run.get("requestId") == request_id


def _summary(said: RequestStatus) -> dict[str, Any]:
    if said.failures is None:
        return {"recovered": True}
    return {
        "recovered": True,
        "by_reason": {one.reason.value: one.count for one in said.failures.by_reason},
        "samples": [[one.reference, one.reason.value] for one in said.failures.samples],
    }
