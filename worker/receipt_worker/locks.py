"""One reader a source at a time, over all workers that share the cache volume."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from receipt_contract.errors import OutageError, Reason
from receipt_worker import storage

FOLDER = ".rebuild-locks"
POLL_SECONDS = 0.1
_MODE = 0o600


@contextmanager
def source_lock(cache_root: Path, sha256: str, *, wait: float) -> Iterator[None]:
    """Hold the lock of a source; waits at most `wait` seconds.

    Raises OutageError: LOCK_WAIT when another holds it that long, CACHE_UNAVAILABLE, NO_SPACE.
    """
    path, until = cache_root / FOLDER / f"{sha256}.lock", time.monotonic() + wait
    descriptor = _locked(path, until=until)
    while descriptor is None:
        descriptor = _locked(path, until=until)
    try:
        yield
    finally:
        os.close(descriptor)  # and with it the lock


def _locked(path: Path, *, until: float) -> int | None:
    """Return the file with its lock; None when it was removed before we had the lock."""
    descriptor = _opened(path)
    try:
        _acquire(descriptor, until=until)
        if _stands(path, descriptor):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _stands(path: Path, descriptor: int) -> bool:
    with storage.outages():
        try:
            return os.path.samestat(path.stat(), os.fstat(descriptor))
        except FileNotFoundError:
            return False


def _opened(path: Path) -> int:
    with storage.outages():
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, _MODE)


def _acquire(descriptor: int, *, until: float) -> None:
    while True:
        with storage.outages():
            try:
                # flock works across threads, pods and NFS (which emulates it).
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                return
        if time.monotonic() >= until:
            raise OutageError(Reason.LOCK_WAIT)
        time.sleep(POLL_SECONDS)
