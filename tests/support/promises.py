"""What every object keeps to, whichever way it came here: looked at from outside, afterwards."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dev.gitops import customizations
from receipt_contract.requests import Kind
from receipt_contract.status import MAX_STATUS_BYTES, RequestStatus
from tests.support import lua
from tests.support.amqp import eventually
from tests.support.pipeline import Pipeline

MAX_EVENTS = 8  # about one request


@contextmanager
def sending(pipeline: Pipeline, *, messages: int) -> Iterator[None]:
    """Check that exactly so many work messages reach the broker while the block runs."""
    before = pipeline.published()
    yield
    assert pipeline.published() - before == messages


def check_object(pipeline: Pipeline, kind: Kind, name: str) -> None:
    """Check one object: bare metadata, a whole and bounded status, its health, few events."""
    document = pipeline.read(kind, name)
    metadata, status = document["metadata"], document["status"]

    assert "finalizers" not in metadata
    assert "ownerReferences" not in metadata
    assert status["observedGeneration"] == metadata["generation"]
    assert len(json.dumps(status, separators=(",", ":"), ensure_ascii=False)) <= MAX_STATUS_BYTES
    _check_schema(status)
    eventually(lambda: _is_whole(pipeline, kind, name, status))
    requests = pipeline.rows(
        "SELECT count(*) AS n FROM work.requests WHERE name = %(name)s AND kind = %(kind)s",
        {"name": name, "kind": kind.value},
    )
    health = lua.health(customizations.HEALTH, document)
    assert health["status"] == lua.expected_health(document)
    assert len(pipeline.events(kind, name)) <= MAX_EVENTS * max(requests[0]["n"], 1)


def _check_schema(document: dict[str, Any]) -> None:
    status = RequestStatus.model_validate(document)
    assert status.document() == document
    if status.progress is not None:
        ended = status.progress.done + status.progress.failed + status.progress.skipped
        assert ended <= status.progress.total


def _is_whole(pipeline: Pipeline, kind: Kind, name: str, status: Mapping[str, Any]) -> bool:
    """Whether the API server kept what was sent last; its log may be behind its answers."""
    sent = pipeline.last_status_sent(kind, name)
    return sent is None or not _lost(sent, status)


def _lost(sent: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the API server did not keep of a merge patch, in which null takes away."""
    lost: dict[str, Any] = {}
    for field, value in sent.items():
        if isinstance(value, Mapping) and isinstance(kept.get(field), Mapping):
            lost |= {f"{field}.{name}": one for name, one in _lost(value, kept[field]).items()}
        elif kept.get(field) != value:
            lost[field] = value
    return lost
