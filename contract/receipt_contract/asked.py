"""The work that a request asks for, for one of its receipts. Pure."""

from receipt_contract.requests import Kind
from receipt_contract.work import CacheRebuildWork, ReprocessWork


def work_of(
    kind: Kind, *, source_sha256: str, source_reference: str, request_id: str
) -> ReprocessWork | CacheRebuildWork:
    """Make the work of an item: the same item always makes the same one."""
    shape = ReprocessWork if kind is Kind.RECEIPT_REPROCESS else CacheRebuildWork
    return shape(
        source_sha256=source_sha256, source_reference=source_reference, request_id=request_id
    )
