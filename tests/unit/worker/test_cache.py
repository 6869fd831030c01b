"""The cache on a real disk: documents, artifacts, markers, files that are whole or not there."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from receipt_contract import cachefiles
from receipt_contract.errors import OutageError, PermanentError, Reason
from receipt_worker import cache, cachefile, locks, storage
from receipt_worker.cache import Kept
from tests.unit.worker.readings import REFERENCE, RUN_UUID, SHA, make_document

REQUEST, OTHER_REQUEST = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2))
LONG_AGO, NOW = 1_000_000_000.0, 1_000_010_000.0


@pytest.fixture
def kept() -> Kept:
    """Give a document with its bytes."""
    return cache.keep(make_document())


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Let the system refuse what is written beyond `size` bytes of a file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def leftovers(root: Path) -> list[Path]:
    return list((root / storage.TEMPORARY_FOLDER).glob("*"))


def test_a_document_is_read_back_as_it_was_written() -> None:
    document = make_document()

    assert cachefile.decode(cachefile.encode(document)) == document


def test_a_document_is_readable_json_with_exact_money() -> None:
    written = cachefile.encode(make_document(total="0.10"))

    document = json.loads(written)
    assert document["metadata"]["source_reference"] == REFERENCE
    assert document["metadata"]["cache_version"] == cachefile.CACHE_VERSION
    assert document["plain_text"] == "TOTAL 0.10"
    assert document["pages"][0]["lines"][0]["text"] == "TOTAL 0.10"
    assert document["receipt"]["total"] == "0.10"
    assert written.endswith(b"}\n")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{}", id="an empty object"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(cachefile.encode(make_document())[:-200], id="a part"),
        pytest.param(
            cachefile.encode(make_document()).replace(
                b'"cache_version": 15', b'"cache_version": 14'
            ),
            id="an earlier version",
        ),
    ],
)
def test_what_cannot_be_told_again_is_no_cache(data: bytes) -> None:
    assert cachefile.decode(data) is None


def test_a_saved_document_is_current_and_an_artifact_of_the_same_bytes(
    tmp_path: Path, kept: Kept
) -> None:
    cache.save(tmp_path, REFERENCE, kept)

    assert cache.current(tmp_path, REFERENCE, source_sha256=SHA) == kept
    assert (tmp_path / "artifacts" / f"{kept.sha256}.json").read_bytes() == kept.data
    assert (tmp_path / f"{REFERENCE}.json").read_bytes() == kept.data


def test_a_cache_of_other_bytes_is_not_current(tmp_path: Path, kept: Kept) -> None:
    cache.save(tmp_path, REFERENCE, kept)

    assert cache.current(tmp_path, REFERENCE, source_sha256="6" * 64) is None


def test_an_artifact_stays_when_the_current_document_changes(tmp_path: Path, kept: Kept) -> None:
    cache.save(tmp_path, REFERENCE, kept)
    other = cache.keep(make_document(total="31.00"))

    cache.save(tmp_path, REFERENCE, other)

    assert {path.stem for path in (tmp_path / "artifacts").iterdir()} == {
        kept.sha256,
        other.sha256,
    }
    assert cache.current(tmp_path, REFERENCE, source_sha256=SHA) == other


def test_a_marker_names_what_answered_its_own_request_only(tmp_path: Path, kept: Kept) -> None:
    cache.save(tmp_path, REFERENCE, kept)
    cache.mark_answered(tmp_path, kept, request_id=REQUEST)

    assert cache.answered(tmp_path, source_sha256=SHA, request_id=REQUEST) == kept
    assert cache.answered(tmp_path, source_sha256=SHA, request_id=OTHER_REQUEST) is None


def test_a_marker_stays_valid_when_the_current_document_is_replaced(
    tmp_path: Path, kept: Kept
) -> None:
    cache.save(tmp_path, REFERENCE, kept)
    cache.mark_answered(tmp_path, kept, request_id=REQUEST)
    cache.save(tmp_path, REFERENCE, cache.keep(make_document(total="31.00")))

    assert cache.answered(tmp_path, source_sha256=SHA, request_id=REQUEST) == kept


@pytest.mark.parametrize("damage", ["gone", "changed", "marker"])
def test_a_marker_is_void_without_its_artifact(tmp_path: Path, kept: Kept, damage: str) -> None:
    cache.save(tmp_path, REFERENCE, kept)
    cache.mark_answered(tmp_path, kept, request_id=REQUEST)
    artifact = tmp_path / "artifacts" / f"{kept.sha256}.json"
    if damage == "gone":
        artifact.unlink()
    elif damage == "changed":
        artifact.write_bytes(kept.data.replace(RUN_UUID.encode(), REQUEST.encode()))
    else:
        (tmp_path / ".rebuild-requests" / SHA / f"{REQUEST}.json").write_text("{")

    assert cache.answered(tmp_path, source_sha256=SHA, request_id=REQUEST) is None


def test_the_mark_tells_the_volume_from_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(OutageError) as failure:
        cache.check_mark(tmp_path)
    cache.leave_mark(tmp_path)
    cache.check_mark(tmp_path)

    assert failure.value.reason is Reason.CACHE_UNAVAILABLE
    assert (tmp_path / cachefiles.ROOT_MARK).is_file()


def test_a_full_disk_is_an_outage_that_leaves_the_old_file_and_nothing_else(
    tmp_path: Path,
) -> None:
    storage.write(tmp_path, "some/file.json", b"old")

    with files_no_larger_than(1000), pytest.raises(OutageError) as failure:
        storage.write(tmp_path, "some/file.json", bytes(100_000))

    assert failure.value.reason is Reason.NO_SPACE
    assert (tmp_path / "some/file.json").read_bytes() == b"old"
    assert not leftovers(tmp_path)


def test_a_folder_in_the_way_is_an_outage(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()

    with pytest.raises(OutageError) as failure:
        storage.write(tmp_path, "file", b"new")

    assert failure.value.reason is Reason.CACHE_UNAVAILABLE
    assert not leftovers(tmp_path)


def test_a_folder_in_the_way_of_a_receipt_is_the_fault_of_its_reference(
    tmp_path: Path, kept: Kept
) -> None:
    (tmp_path / cachefiles.current(REFERENCE)).mkdir(parents=True)

    with pytest.raises(PermanentError) as failure:
        cache.save(tmp_path, REFERENCE, kept)

    assert failure.value.reason is Reason.UNSAFE_REFERENCE
    assert not leftovers(tmp_path)


@pytest.mark.parametrize(
    "reference",
    [
        f"{cache.ARTIFACTS}/{SHA}",
        f"{cache.MARKERS}/{SHA}/{REQUEST}",
        f"{locks.FOLDER}/{SHA}.lock",
        f"{storage.TEMPORARY_FOLDER}/x\ny.png",
    ],
)
def test_no_receipt_is_kept_in_the_place_of_what_is_the_caches_own(
    tmp_path: Path, kept: Kept, reference: str
) -> None:
    with pytest.raises(PermanentError) as failure:
        cache.save(tmp_path, reference, kept)

    assert failure.value.reason is Reason.UNSAFE_REFERENCE
    assert not (tmp_path / cachefiles.current(reference)).exists()


def test_a_receipt_in_a_folder_named_like_that_of_the_artifacts_is_kept(
    tmp_path: Path, kept: Kept
) -> None:
    reference = f"{cache.ARTIFACTS}/some.png"

    cache.save(tmp_path, reference, kept)

    assert cache.current(tmp_path, reference, source_sha256=SHA) == kept


def test_sweeping_removes_old_leftovers_and_no_other_file(tmp_path: Path) -> None:
    storage.write(tmp_path, "deep/kept.json", b"kept")
    old, young = (tmp_path / storage.TEMPORARY_FOLDER / name for name in ("old", "young"))
    for path, modified in ((old, LONG_AGO), (young, NOW)):
        path.touch()
        os.utime(path, (modified, modified))

    assert storage.sweep(tmp_path, older_than=3600, now=NOW) == 1
    assert not old.exists()
    assert young.exists()
    assert (tmp_path / "deep" / "kept.json").exists()


def test_a_source_has_one_reader_at_a_time(tmp_path: Path) -> None:
    with locks.source_lock(tmp_path, SHA, wait=0):
        with pytest.raises(OutageError) as failure, locks.source_lock(tmp_path, SHA, wait=0):
            pass
        with locks.source_lock(tmp_path, "6" * 64, wait=0):
            pass
    with locks.source_lock(tmp_path, SHA, wait=0):
        pass

    assert failure.value.reason is Reason.LOCK_WAIT
