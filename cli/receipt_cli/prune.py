"""`prune`: removes what is kept for a time only, in steps that hold no lock for long."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path

from receipt_cli import addresses
from receipt_cli.output import ExitCode, emit, say
from receipt_collector.store import retention as rows
from receipt_collector.store.database import Connection, Database
from receipt_worker import cache
from receipt_worker import retention as files

ROWS_KEPT = timedelta(days=90)
FILES_KEPT = timedelta(days=30)
STEP = 1000


def run(dsn: str, cache_root: Path | None) -> ExitCode:
    """Prune the database, and the cache where its folder is given; print what was removed."""
    with closing(Database(addresses.database(dsn))) as database:
        removed = {
            "items": _in_steps(database, partial(rows.remove_items, finished_before=ROWS_KEPT)),
            "inbox": _in_steps(database, partial(rows.remove_inbox, recorded_before=ROWS_KEPT)),
        }
        if cache_root is not None:
            removed |= _prune_files(database, cache_root)
    emit(removed)
    return ExitCode.DONE


def _in_steps(database: Database, remove: Callable[..., int]) -> int:
    def step(connection: Connection) -> int:
        return remove(connection, limit=STEP)

    removed = 0
    while found := database.run(step):
        removed += found
    return removed


def _prune_files(database: Database, root: Path) -> dict[str, int]:
    cache.check_mark(root)  # an empty mount point is no cache
    now, age = time.time(), FILES_KEPT.total_seconds()
    return {
        "artifacts": _prune_artifacts(database, root, age=age, now=now),
        "markers": files.remove_markers(root, older_than=age, now=now),
        "locks": files.remove_locks(root, older_than=age, now=now),
    }


def _prune_artifacts(database: Database, root: Path, *, age: float, now: float) -> int:
    """Remove what no run names; nothing where the database names none, as after it was lost."""
    old = files.old_artifacts(root, older_than=age, now=now)
    removed = 0
    for hashes in _batches(old):
        if not database.run(rows.knows_artifacts):
            say("The database names no artifact at all: none was removed.")
            return 0
        named = database.run(partial(rows.named_artifacts, hashes=hashes))
        for sha256 in set(hashes) - named:
            files.remove_artifact(root, sha256)
            removed += 1
    return removed


def _batches(hashes: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(hashes, STEP)):
        yield batch
