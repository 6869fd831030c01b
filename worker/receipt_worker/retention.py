"""Files of the cache whose time is over. A receipt's current document is never touched.

Ages are seconds since a file was written. All raise OutageError as `storage` does.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from receipt_worker import cache, locks, storage


def old_artifacts(root: Path, *, older_than: float, now: float) -> Iterator[str]:
    """Yield the content hash of each artifact that is old enough."""
    for path in _old(root / cache.ARTIFACTS, "*.json", older_than=older_than, now=now):
        yield path.stem


def remove_artifact(root: Path, sha256: str) -> None:
    """Remove an artifact that no run names."""
    with storage.outages():
        (root / cache.artifact_name(sha256)).unlink(missing_ok=True)


def remove_markers(root: Path, *, older_than: float, now: float) -> int:
    """Remove markers: their requests ended long ago, and would be read again if they had not."""
    removed = 0
    for path in _old(root / cache.MARKERS, "*/*.json", older_than=older_than, now=now):
        with storage.outages():
            path.unlink(missing_ok=True)
            removed += 1
            with contextlib.suppress(OSError):  # other markers are in it
                path.parent.rmdir()
    return removed


def remove_locks(root: Path, *, older_than: float, now: float) -> int:
    """Remove lock files that nobody holds; whoever waits for one notices and makes another."""
    removed = 0
    for path in _old(root / locks.FOLDER, "*.lock", older_than=older_than, now=now):
        with storage.outages(), contextlib.suppress(FileNotFoundError):
            removed += _remove_unheld(path)
    return removed


def _remove_unheld(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _old(folder: Path, pattern: str, *, older_than: float, now: float) -> Iterator[Path]:
    with storage.outages():
        for path in folder.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                if now - path.stat().st_mtime >= older_than:
                    yield path
