"""`receipts extract` on files that nobody should send: each gives a row, none stops the others."""

from pathlib import Path

import pytest

from tests.support import ledger, odd_files
from tests.support.ledger import Ran

NAMES = (b"no utf-8 \xff.png", b"[bold] \x1b[31m.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of this module alone."""
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def may(folder: Path) -> dict[str, frozenset[str]]:
    """Write all odd files; gives how each name may end."""
    return odd_files.write(folder)


@pytest.fixture(scope="module")
def ran(folder: Path, may: dict[str, frozenset[str]]) -> Ran:
    """Read all of them in one command, with the engine that is always there."""
    paths = [folder / name for name in may]
    alone = {"RECEIPT_OCR_ENGINES": "tesseract"}
    return ledger.run("receipts", "extract", *paths, "--format", "jsonl", env=alone)


def test_every_odd_file_gives_a_row_with_a_reason_in_order(
    folder: Path, may: dict[str, frozenset[str]], ran: Ran
) -> None:
    ended = {Path(row["file"]).name: row["error"] or row["extraction_status"] for row in ran.lines}

    assert {name: end for name, end in ended.items() if end not in may[name]} == {}
    assert [row["file"] for row in ran.lines] == [str(folder / name) for name in may]
    assert ran.code == 0
    assert "folder.jpg: a folder without receipts" in ran.stderr


def test_of_odd_files_only_what_is_printed_is_told_as_certain(ran: Ran) -> None:
    told = {row["total"] for row in ran.lines if row["extraction_status"] == "complete"}

    assert told == {str(odd_files.TOTAL)}


def test_a_table_shows_names_that_no_terminal_should_see(tmp_path: Path) -> None:
    paths = [tmp_path / name.decode("utf-8", "surrogateescape") for name in NAMES]
    for path in paths:
        path.touch()

    ran = ledger.run("receipts", "extract", *paths, "--format", "table")

    assert "no utf-8 \\xff.png" in ran.stdout
    assert "[bold] \N{REPLACEMENT CHARACTER}[31m.png" in ran.stdout
    assert "Error" not in ran.stderr
