"""What changed between two statuses: whether it is a transition, and which events tell it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from receipt_contract.status import ConditionReason, ConditionStatus, ConditionType, Kept
from receipt_operator import sentences
from receipt_operator.register.rows import ObjectKey

MAX_NOTE = 1024  # the API server's limit
MAX_NOTICES = 8  # about one request, its end included
NORMAL, WARNING = "Normal", "Warning"


class Notice(NamedTuple):
    """One event to post."""

    type: str
    reason: str
    note: str


class Told:
    """How much was told about the request of each object, so that a flapping one stays quiet."""

    def __init__(self) -> None:
        """Start with nothing told."""
        self._counts: dict[ObjectKey, tuple[str | None, int]] = {}

    def ration(
        self, key: ObjectKey, status: Mapping[str, Any], notices: Sequence[Notice]
    ) -> Sequence[Notice]:
        """Return those that may be told; the last one is kept for the end."""
        request_id = _request_of(status)
        known, count = self._counts.get(key, (None, 0))
        if known != request_id:
            count = 0
        finished = ConditionType.FINISHED in _true_conditions(status)
        left = MAX_NOTICES - count if finished else MAX_NOTICES - 1 - count
        allowed = notices[: max(left, 0)]
        self._counts[key] = (request_id, count + len(allowed))
        return allowed

    def forget(self, key: ObjectKey) -> None:
        """Forget an object that is gone."""
        self._counts.pop(key, None)


def is_transition(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell a change of what is true from a change of numbers."""
    return _skeleton(before) != _skeleton(after)


def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[Notice]:
    """Return the events of a write: acceptance, stalls and the end, each when it begins."""
    held, holds = _true_conditions(before), _true_conditions(after)
    if _request_of(before) != _request_of(after):
        held = _lasting(held, holds)
    new = {type_: one for type_, one in holds.items() if type_ not in held}
    notices = [*_about_approval(before, after), *_about_deletion(before, after)]
    if ConditionType.ACCEPTED in new and ConditionType.FINISHED not in holds:
        notices.append(_notice(NORMAL, new[ConditionType.ACCEPTED]))
    if ConditionType.STALLED in new and ConditionType.FINISHED not in holds:
        notices.append(_notice(WARNING, new[ConditionType.STALLED]))
    if ConditionType.FINISHED in new:
        good = ConditionType.SUCCEEDED in holds
        notices.append(_notice(NORMAL if good else WARNING, new[ConditionType.FINISHED]))
    return notices


def _lasting(
    held: Mapping[str, Mapping[str, Any]], holds: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Keep of what was said about another request the obstacle that lies before this one too."""
    before, now = held.get(ConditionType.STALLED), holds.get(ConditionType.STALLED)
    is_same = before is not None and now is not None and before["reason"] == now["reason"]
    return {ConditionType.STALLED: before} if before is not None and is_same else {}


def _about_approval(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Notice]:
    waits = _awaiting(after)
    if waits is not None and (
        _awaiting(before) is None or _request_of(before) != _request_of(after)
    ):
        yield _notice(WARNING, waits)


def _awaiting(status: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next(
        (
            one
            for one in status.get("conditions") or ()
            if one["type"] == ConditionType.ACCEPTED
            and one["reason"] == ConditionReason.AWAITING_APPROVAL
        ),
        None,
    )


def _about_deletion(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Notice]:
    kept = (after.get("effective") or {}).get("keptBecause")
    if kept and kept != (before.get("effective") or {}).get("keptBecause"):
        yield Notice(WARNING, "NotDeleted", sentences.KEPT[Kept(kept)])


def _notice(type_: str, condition: Mapping[str, Any]) -> Notice:
    reason = ConditionReason(condition["reason"])
    word = "Accepted" if reason is ConditionReason.VALIDATED else reason.value
    return Notice(type_, word, condition["message"][:MAX_NOTE])


def _skeleton(status: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        status.get("observedGeneration"),
        status.get("state"),
        [(one["type"], one["status"], one["reason"]) for one in status.get("conditions") or ()],
        _request_of(status),
        (status.get("progress") or {}).get("totalIsFinal"),
        status.get("effective"),
        len(status.get("history") or ()),
        "queue" in status,
    )


def _request_of(status: Mapping[str, Any]) -> str | None:
    run = status.get("run") or {}
    request_id: str | None = run.get("requestId")
    return request_id


def _true_conditions(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        one["type"]: one
        for one in status.get("conditions") or ()
        if one["status"] == ConditionStatus.TRUE
    }
