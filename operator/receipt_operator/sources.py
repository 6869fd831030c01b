"""Hashing receipts just before they are sent: file edges of the publication.

What the volume is to blame for is an outage, never an end of an item.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from receipt_contract.errors import OutageError, PermanentError, Reason
from receipt_runtime import files

HASHERS = 4  # enough to hide a network volume's latency, few enough for a small pod


@dataclass(frozen=True)
class Hashed:
    """One reference: its hash, or why it has none."""

    reference: str
    sha256: str | None = None
    reason: Reason | None = None


async def hash_all(root: Path, references: Sequence[str]) -> list[Hashed]:
    """Hash files in threads, in order.

    One whose volume does not answer says so itself, so that it holds nothing else up.
    """
    gate = asyncio.Semaphore(HASHERS)

    async def one(reference: str) -> Hashed:
        async with gate:
            return await asyncio.to_thread(_hash, root, reference)

    hashed = await asyncio.gather(*map(one, references), return_exceptions=True)
    failed = next((one for one in hashed if isinstance(one, BaseException)), None)
    if failed is not None:
        raise failed
    return [one for one in hashed if isinstance(one, Hashed)]


def _hash(root: Path, reference: str) -> Hashed:
    try:
        return Hashed(reference, sha256=files.hash_source(root, reference))
    except (OutageError, PermanentError) as error:
        return Hashed(reference, reason=error.reason)
