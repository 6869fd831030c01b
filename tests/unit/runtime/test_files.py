"""The receipts root: when a receipt is to blame, and when the volume is."""

import errno
import os
from hashlib import sha256
from pathlib import Path

import pytest

from receipt_contract.errors import OutageError, PermanentError, Reason
from receipt_runtime import files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "one.pdf").write_bytes(b"one")
    return folder


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(errno.EIO, OutageError, id="a failing disk is an outage"),
        pytest.param(errno.ESTALE, OutageError, id="a stale network handle is an outage"),
        pytest.param(errno.ENOTCONN, OutageError, id="a lost file server is an outage"),
        pytest.param(errno.EMFILE, OutageError, id="running out of descriptors is an outage"),
        pytest.param(errno.EUCLEAN, OutageError, id="an error nobody foresaw is an outage"),
        pytest.param(errno.ENOENT, PermanentError, id="no such file is the receipt's end"),
        pytest.param(errno.EACCES, PermanentError, id="a forbidden file is the receipt's end"),
    ],
)
def test_an_error_is_the_volumes_or_the_receipts(number: int, expected: type[Exception]) -> None:
    failure = files.translate(OSError(number, "secret text"))

    assert isinstance(failure, expected)
    assert "secret" not in str(failure)


def test_a_timeout_is_an_outage() -> None:
    assert isinstance(files.translate(TimeoutError("no answer")), OutageError)


def test_the_hash_is_that_of_the_bytes(root: Path) -> None:
    assert files.hash_source(root, "one.pdf") == sha256(b"one").hexdigest()


def test_g7_a_giant_is_refused_without_reading_it_whole(root: Path) -> None:
    with (root / "giant.pdf").open("wb") as giant:
        giant.truncate(2**40)  # no disk holds it: a hole takes no room

    with pytest.raises(PermanentError) as refusal:
        files.hash_source(root, "giant.pdf")

    assert refusal.value.reason is Reason.TOO_LARGE


def test_a_link_inside_the_root_is_followed(root: Path) -> None:
    (root / "again.pdf").symlink_to("one.pdf")

    assert files.resolve(root, "again.pdf") == root / "one.pdf"


def _make_nothing(_: Path) -> None:
    pass


def _make_link_outside(root: Path) -> None:
    (root.parent / "outside.pdf").write_bytes(b"x")
    (root / "x.pdf").symlink_to(root.parent / "outside.pdf")


def _make_circle(root: Path) -> None:
    (root / "x.pdf").symlink_to("x.pdf")


def _make_folder(root: Path) -> None:
    (root / "x.pdf").mkdir()


def _make_pipe(root: Path) -> None:
    os.mkfifo(root / "x.pdf")


def _make_dangling_link(root: Path) -> None:
    (root / "x.pdf").symlink_to("gone.pdf")


@pytest.mark.parametrize(
    ("make", "reference", "reason"),
    [
        pytest.param(_make_nothing, "x.pdf", Reason.SOURCE_MISSING, id="no file"),
        pytest.param(_make_nothing, "one.pdf/x", Reason.SOURCE_MISSING, id="below a file"),
        pytest.param(_make_nothing, "x" * 300, Reason.SOURCE_MISSING, id="a name no file can have"),
        pytest.param(_make_dangling_link, "x.pdf", Reason.SOURCE_MISSING, id="a link to nothing"),
        pytest.param(_make_nothing, "../x", Reason.UNSAFE_REFERENCE, id="a way up"),
        pytest.param(_make_nothing, "/etc/passwd", Reason.UNSAFE_REFERENCE, id="an absolute path"),
        pytest.param(_make_nothing, "\ud800", Reason.UNSAFE_REFERENCE, id="half a character"),
        pytest.param(_make_link_outside, "x.pdf", Reason.UNSAFE_REFERENCE, id="a link outside"),
        pytest.param(_make_circle, "x.pdf", Reason.UNSAFE_REFERENCE, id="a link to itself"),
        pytest.param(_make_folder, "x.pdf", Reason.SOURCE_UNREADABLE, id="a folder"),
        pytest.param(_make_pipe, "x.pdf", Reason.SOURCE_UNREADABLE, id="a pipe"),
    ],
)
def test_a_bad_reference_is_the_receipts_own_end(
    root: Path, make: object, reference: str, reason: Reason
) -> None:
    assert callable(make)
    make(root)

    with pytest.raises(PermanentError) as caught:
        files.hash_source(root, reference)

    assert caught.value.reason is reason


def _remove(root: Path) -> None:
    (root / "one.pdf").unlink()
    root.rmdir()


def _empty(root: Path) -> None:
    (root / "one.pdf").unlink()


def _leave_only_what_a_fresh_volume_holds(root: Path) -> None:
    (root / "one.pdf").unlink()
    (root / "lost+found").mkdir()
    (root / ".snapshot").mkdir()


def _replace_by_a_file(root: Path) -> None:
    _remove(root)
    root.write_bytes(b"")


@pytest.mark.parametrize(
    "lose",
    [
        pytest.param(_remove, id="gone"),
        pytest.param(_empty, id="empty, as an unmounted volume is"),
        pytest.param(_leave_only_what_a_fresh_volume_holds, id="holding nothing of ours"),
        pytest.param(_replace_by_a_file, id="no folder"),
    ],
)
def test_no_receipt_is_blamed_while_its_root_is_away(root: Path, lose: object) -> None:
    assert callable(lose)
    lose(root)

    with pytest.raises(OutageError) as listed:
        files.check_root(root)
    with pytest.raises(OutageError) as hashed:
        files.hash_source(root, "one.pdf")

    assert {listed.value.reason, hashed.value.reason} == {Reason.SOURCE_UNAVAILABLE}
