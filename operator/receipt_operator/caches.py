"""The cache root as the operator sees it: mounted read-only, asked only what is there."""

from pathlib import Path

from receipt_contract import cachefiles
from receipt_contract.errors import OutageError, Reason
from receipt_runtime import files


def check_root(root: Path) -> None:
    """Return when the root carries the mark a worker left there.

    Raises OutageError(CACHE_UNAVAILABLE): on an unmounted volume every cache looks missing, and
    everything would be read again.
    """
    if not _is_file(root / cachefiles.ROOT_MARK):
        raise OutageError(Reason.CACHE_UNAVAILABLE)


def holds(root: Path, name: str) -> bool:
    """Say whether a cache file of this name (see `cachefiles`) is there."""
    return _is_file(root / name)


def is_current(root: Path, reference: str) -> bool:
    """Say whether a receipt's cache file is there in the present layout, without its hash."""
    return _is_file(root / cachefiles.current(reference))


def is_cached(root: Path, reference: str, *, sha256: str) -> bool:
    """Say whether a receipt's cache file is there, in the present layout or the earlier one."""
    return holds(root, cachefiles.current(reference)) or holds(root, cachefiles.legacy(sha256))


def _is_file(path: Path) -> bool:
    """Look; raises OutageError(CACHE_UNAVAILABLE) when the volume does not say, or forbids it."""
    try:
        return path.is_file()
    except OSError as error:
        if files.translate(error).reason is Reason.SOURCE_MISSING:  # a name no file can have
            return False
        raise OutageError(Reason.CACHE_UNAVAILABLE) from error
