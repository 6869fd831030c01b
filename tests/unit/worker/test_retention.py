"""Files of the cache whose time is over, on a real disk."""

import os
import threading
from pathlib import Path

import pytest

from receipt_contract.errors import OutageError
from receipt_worker import cache, locks, retention
from tests.unit.worker.readings import REFERENCE, SHA, make_document

REQUESTS = tuple(f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2))
NOW, DAY = 1_800_000_000.0, 86_400.0


def age(path: Path, days: float) -> None:
    os.utime(path, (NOW - days * DAY, NOW - days * DAY))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a cache with one document, its artifact, and markers of two requests."""
    kept = cache.keep(make_document())
    cache.save(tmp_path, REFERENCE, kept)
    for request_id in REQUESTS:
        cache.mark_answered(tmp_path, kept, request_id=request_id)
    for path in tmp_path.rglob("*.json"):
        age(path, 31)
    return tmp_path


def test_only_old_artifacts_are_named_and_the_current_document_never_is(root: Path) -> None:
    new = cache.keep(make_document(total="7.00"))
    cache.save(root, REFERENCE, new)
    age(root / cache.artifact_name(new.sha256), 29)

    old = list(retention.old_artifacts(root, older_than=30 * DAY, now=NOW))

    assert old == [cache.keep(make_document()).sha256]
    retention.remove_artifact(root, old[0])
    assert [path.stem for path in (root / cache.ARTIFACTS).iterdir()] == [new.sha256]
    assert (root / f"{REFERENCE}.json").read_bytes() == new.data


def test_old_markers_leave_with_their_folder_once_it_is_empty(root: Path) -> None:
    folder = root / cache.MARKERS / SHA
    age(folder / f"{REQUESTS[1]}.json", 29)

    first = retention.remove_markers(root, older_than=30 * DAY, now=NOW)
    left = [path.stem for path in folder.iterdir()]
    second = retention.remove_markers(root, older_than=0, now=NOW)

    assert (first, left, second) == (1, [REQUESTS[1]], 1)
    assert not folder.exists()


def test_a_lock_that_is_held_stays_and_one_that_nobody_holds_leaves(tmp_path: Path) -> None:
    with locks.source_lock(tmp_path, "6" * 64, wait=0):
        pass
    with locks.source_lock(tmp_path, SHA, wait=0):
        removed = retention.remove_locks(tmp_path, older_than=DAY, now=NOW * 2)
        left = [path.stem for path in (tmp_path / locks.FOLDER).iterdir()]

    assert (removed, left) == (1, [SHA])


def test_a_lock_that_is_removed_while_one_waits_for_it_is_still_one_readers_only(
    tmp_path: Path,
) -> None:
    path = tmp_path / locks.FOLDER / f"{SHA}.lock"
    waits, go_on = threading.Event(), threading.Event()

    def wait_for_it() -> None:
        waits.set()
        with locks.source_lock(tmp_path, SHA, wait=30):
            waits.set()
            go_on.wait(30)

    waiter = threading.Thread(target=wait_for_it)
    with locks.source_lock(tmp_path, SHA, wait=0):
        waiter.start()
        waits.wait(30)
        waits.clear()
        path.unlink()  # as if someone had thought it free

    waits.wait(30)
    with pytest.raises(OutageError), locks.source_lock(tmp_path, SHA, wait=0):
        pytest.fail("two readers at a time")
    go_on.set()
    waiter.join()


def test_a_cache_where_nothing_was_ever_kept_has_nothing_old(tmp_path: Path) -> None:
    assert list(retention.old_artifacts(tmp_path, older_than=0, now=NOW)) == []
    assert retention.remove_markers(tmp_path, older_than=0, now=NOW) == 0
    assert retention.remove_locks(tmp_path, older_than=0, now=NOW) == 0
