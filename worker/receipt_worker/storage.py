"""Files of the cache volume: whole or not at all, and on the disk before anyone is told.

Every error of the volume is an outage: NO_SPACE for a full one, CACHE_UNAVAILABLE otherwise. Where
the volume stands and only the name cannot be had, the outage says so.
"""

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from receipt_contract.errors import OutageError, Reason

TEMPORARY_FOLDER = ".unfinished"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_ROOM = frozenset({errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR})


class NoRoomError(OutageError):
    """No file can have this name: it is too long, or a file or folder stands in its way."""

    def __init__(self) -> None:
        """Count as the volume's fault, until someone knows better."""
        super().__init__(Reason.CACHE_UNAVAILABLE)


@contextmanager
def outages() -> Iterator[None]:
    """Turn errors of the volume into OutageError; NoRoomError where the name is to blame."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise NoRoomError from error
        full = error.errno in _FULL
        raise OutageError(Reason.NO_SPACE if full else Reason.CACHE_UNAVAILABLE) from error


def read(path: Path) -> bytes | None:
    """Return a file's bytes, None when there is no such file. Raises OutageError."""
    with outages():
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None
            raise


def write(root: Path, name: str, data: bytes) -> None:
    """Replace the file `name` below `root` in one step: after a crash it is the old or the new one.

    Raises OutageError, NoRoomError among them.
    """
    path = root / name
    # A random name: process ids are the same in every pod. One folder: leftovers are found there.
    temporary = root / TEMPORARY_FOLDER / uuid.uuid4().hex
    with outages():
        for folder in (temporary.parent, path.parent):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            _write_new(temporary, data)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def sweep(root: Path, *, older_than: float, now: float) -> int:
    """Remove unfinished files that a killed worker left, by age in seconds; returns how many."""
    removed = 0
    with outages():
        for path in (root / TEMPORARY_FOLDER).glob("*"):
            with contextlib.suppress(FileNotFoundError):
                if now - path.stat().st_mtime >= older_than:
                    path.unlink()
                    removed += 1
    return removed


def _write_new(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
