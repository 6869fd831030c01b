"""A receipt's bytes, proven to be those that were asked for.

Raises PermanentError: SOURCE_MISSING, SOURCE_UNREADABLE, UNSAFE_REFERENCE, SOURCE_CHANGED or
TOO_LARGE; OutageError(SOURCE_UNAVAILABLE) when the root or the volume is to blame.
"""

import hashlib
import os
from pathlib import Path

from receipt_contract.errors import PermanentError, Reason
from receipt_runtime import files


def read(root: Path, reference: str, *, sha256: str, max_bytes: int) -> bytes:
    """Return the bytes, whose hash is `sha256`."""
    with files.opened(root, reference) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(max_bytes + 1) if size <= max_bytes else b""
        if size > max_bytes or len(data) > max_bytes:
            raise PermanentError(Reason.TOO_LARGE)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise PermanentError(Reason.SOURCE_CHANGED)
    return data


def check_unchanged(root: Path, reference: str, *, sha256: str) -> None:
    """Return when the file still has these bytes."""
    if files.hash_source(root, reference) != sha256:
        raise PermanentError(Reason.SOURCE_CHANGED)
