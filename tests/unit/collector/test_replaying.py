"""Which work a dead letter asks for again."""

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from receipt_collector import replaying
from receipt_collector.store.failures import DeadLetter
from receipt_contract import work
from receipt_contract.topology import RESULTS_SIDE, WORK_SIDE
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from tests.support.results import reference, request_id, sha

OF_NORMAL = ProcessWork(source_sha256=sha(), source_reference=reference())
OF_REPROCESS = ReprocessWork(
    source_sha256=sha(), source_reference=reference(), request_id=request_id()
)
OF_REBUILD = CacheRebuildWork(
    source_sha256=sha(), source_reference=reference(), request_id=request_id()
)


def letter(**changes: Any) -> DeadLetter:
    """Return the letter of a result for a request."""
    return DeadLetter(
        failure_id=uuid.UUID(int=1),
        side=RESULTS_SIDE.prefix,
        body=None,
        source_sha256=sha(),
        source_reference=reference(),
        request_id=request_id(),
        kind="ReceiptReprocess",
        pass_id=None,
        last_failed_at=datetime(2026, 3, 1, tzinfo=UTC),
    )._replace(**changes)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param(letter(), OF_REPROCESS, id="a result of a reprocess"),
        pytest.param(letter(kind="CacheRebuild"), OF_REBUILD, id="a result of a rebuild"),
        pytest.param(letter(request_id=None, kind=None), OF_NORMAL, id="a normal result"),
        pytest.param(letter(kind=None), None, id="a request no register knows"),
        pytest.param(letter(pass_id=3), None, id="a pass"),
        pytest.param(letter(source_sha256=None), None, id="an event that could not be read"),
        pytest.param(
            letter(
                side=WORK_SIDE.prefix,
                body=work.encode(OF_REBUILD.model_copy(update={"attempt": 3})),
            ),
            OF_REBUILD,
            id="work gets its attempts back",
        ),
        pytest.param(
            letter(side=WORK_SIDE.prefix, body=b"{}"), None, id="work that was never ours"
        ),
        pytest.param(letter(side=WORK_SIDE.prefix, body=None), None, id="work too long to be kept"),
    ],
)
def test_a_letter_tells_what_to_send_or_nothing(
    given: DeadLetter, wanted: replaying.Work | None
) -> None:
    assert replaying.work_of(given) == wanted
