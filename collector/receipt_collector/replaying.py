"""Which work does a dead letter ask for again? Pure.

Work is sent as it was, with its attempts given back. The body of a result is not kept, as it holds
receipt text: the worker is asked again, and tells what it has in its cache instead of reading.
"""

from receipt_collector.store.failures import DeadLetter
from receipt_contract import asked, work
from receipt_contract.errors import PermanentError
from receipt_contract.requests import Kind
from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork

Work = ProcessWork | ReprocessWork | CacheRebuildWork


def work_of(letter: DeadLetter) -> Work | None:
    """Return the work to send; None where the letter does not tell it.

    That is a body that was never one of ours, a pass (its run asks for nothing), and a result for
    a request that no register knows.
    """
    if letter.side == WORK_SIDE.prefix:
        return _as_it_was(letter.body)
    if letter.source_sha256 is None or letter.source_reference is None or letter.pass_id:
        return None
    if letter.request_id is None:
        return ProcessWork(
            source_sha256=letter.source_sha256, source_reference=letter.source_reference
        )
    if letter.kind is None:
        return None
    return asked.work_of(
        Kind(letter.kind),
        source_sha256=letter.source_sha256,
        source_reference=letter.source_reference,
        request_id=letter.request_id,
    )


def _as_it_was(body: bytes | None) -> Work | None:
    try:
        return work.decode(body or b"").model_copy(update={"attempt": 1})
    except PermanentError:
        return None
