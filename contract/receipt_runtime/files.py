"""The receipts root as a file edge: what an I/O error means, and where a reference leads.

A file is called missing or unreadable only after its root was seen readable and not empty; until
then the root is away and the receipt is not to blame. Nothing here writes.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from receipt_contract.errors import OutageError, PermanentError, Reason, ReceiptError
from receipt_contract.identity import safe_reference, source_sha256

# What a volume, a network or a full process says. Whatever is in neither set counts as an outage
# too: an error nobody foresaw is no proof against one receipt.
OUTAGE_ERRNOS = frozenset(
    {
        errno.EIO,
        errno.ESTALE,
        errno.ENOTCONN,
        errno.ETIMEDOUT,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENODEV,
        errno.ENXIO,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EREMOTEIO,
        errno.ECONNRESET,
    }
)

_PERMANENT = {
    errno.ENOENT: Reason.SOURCE_MISSING,
    errno.ENOTDIR: Reason.SOURCE_MISSING,
    errno.ENAMETOOLONG: Reason.SOURCE_MISSING,  # no file can have this name
    errno.EACCES: Reason.SOURCE_UNREADABLE,
    errno.EPERM: Reason.SOURCE_UNREADABLE,
    errno.EISDIR: Reason.SOURCE_UNREADABLE,
    errno.EINVAL: Reason.SOURCE_UNREADABLE,
    errno.ELOOP: Reason.UNSAFE_REFERENCE,
}

_NO_RECEIPTS = "lost+found"  # a fresh volume holds it, and nothing else


def translate(error: OSError) -> ReceiptError:
    """Say what an error on a source means: its own fault, or the volume's."""
    if error.errno in OUTAGE_ERRNOS or error.errno not in _PERMANENT:
        return OutageError(Reason.SOURCE_UNAVAILABLE)
    return PermanentError(_PERMANENT[error.errno])


def check_root(root: Path) -> None:
    """Return when the root is a readable folder that holds something.

    Raises OutageError(SOURCE_UNAVAILABLE): an unmounted volume looks like an empty folder.
    """
    try:
        with os.scandir(root) as entries:
            if any(_counts(entry.name) for entry in entries):
                return
    except OSError as error:
        raise OutageError(Reason.SOURCE_UNAVAILABLE) from error
    raise OutageError(Reason.SOURCE_UNAVAILABLE)


def resolve(root: Path, reference: str) -> Path:
    """Return the real path of a reference, links followed; it lies inside the root.

    Raises PermanentError: UNSAFE_REFERENCE, SOURCE_MISSING or SOURCE_UNREADABLE;
    OutageError(SOURCE_UNAVAILABLE).
    """
    safe_reference(reference)
    with _blaming(root):
        real_root = root.resolve(strict=True)
        path = _real(real_root / reference)
        if not path.is_relative_to(real_root):
            raise PermanentError(Reason.UNSAFE_REFERENCE)
        if not stat.S_ISREG(path.stat().st_mode):
            raise PermanentError(Reason.SOURCE_UNREADABLE)
        return path


@contextmanager
def opened(root: Path, reference: str) -> Iterator[BinaryIO]:
    """Open a source; errors while it is read are translated as well. Raises as `resolve`."""
    path = resolve(root, reference)
    with _blaming(root), open(path, "rb", opener=_open_without_waiting) as stream:
        yield stream


@contextmanager
def opened_alone(path: Path) -> Iterator[BinaryIO]:
    """Open one file that a person named, below no root.

    Raises PermanentError: SOURCE_MISSING, SOURCE_UNREADABLE or UNSAFE_REFERENCE;
    OutageError(SOURCE_UNAVAILABLE).
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise PermanentError(Reason.SOURCE_UNREADABLE)
        with open(path, "rb", opener=_open_without_waiting) as stream:
            yield stream
    except OSError as error:
        raise translate(error) from error


def hash_source(root: Path, reference: str) -> str:
    """Return the content hash of a source. Raises as `resolve`, and PermanentError(TOO_LARGE)."""
    with opened(root, reference) as stream:
        return source_sha256(stream)


@contextmanager
def _blaming(root: Path) -> Iterator[None]:
    """Translate errors; before a receipt is blamed its root has to stand."""
    try:
        yield
    except PermanentError:
        check_root(root)
        raise
    except OSError as error:
        failure = translate(error)
        if isinstance(failure, PermanentError):
            check_root(root)
        raise failure from error


def _real(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except RuntimeError as error:  # how Python 3.11 reports links that lead in a circle
        raise PermanentError(Reason.UNSAFE_REFERENCE) from error
    except UnicodeEncodeError as error:  # a lone surrogate names no file
        raise PermanentError(Reason.UNSAFE_REFERENCE) from error


def _open_without_waiting(path: str, flags: int) -> int:
    """Open so that a pipe put in the file's place cannot block the reader for ever."""
    return os.open(path, flags | os.O_NONBLOCK)


def _counts(name: str) -> bool:
    return not name.startswith(".") and name != _NO_RECEIPTS
