"""`receipts extract`: reads files here and now, without broker and database."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from receipt_cli.output import ExitCode, emit, say
from receipt_contract.errors import OutageError
from receipt_operator import discovery
from receipt_runtime.settings import read
from receipt_worker.consume import check_engine
from receipt_worker.extract import FAILED, ExtractedFile, extract_files, shown
from receipt_worker.settings import ReadingSettings


def run(paths: Sequence[Path], *, as_table: bool) -> ExitCode:
    """Answer for every file, in order; fails when not one could be read."""
    settings = read(ReadingSettings)
    check_engine(settings)
    found = list(expand(paths))
    answers = extract_files(found, settings, today=datetime.now(UTC).date())
    write = _write_table if as_table else _write_json
    read_one = write(_counted(answers, total=len(found)))
    return ExitCode.DONE if read_one else ExitCode.FAILED


def expand(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield files as given, and the receipts below folders; a folder without any for itself."""
    for path in paths:
        below = _below(path) if path.is_dir() else [path]
        if not below:
            say(f"{shown(path)}: a folder without receipts, or an unreadable one.")
        yield from below or [path]


def _below(folder: Path) -> list[Path]:
    try:
        return [folder / reference for reference in discovery.walk(folder)]
    except OutageError:
        return []


def _counted(answers: Iterable[ExtractedFile], *, total: int) -> Iterator[ExtractedFile]:
    """Show how far it is, to people only."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=total)
        for answer in answers:
            progress.advance(task)
            yield answer


def _write_json(answers: Iterable[ExtractedFile]) -> bool:
    """Write each answer as it comes; say whether any file could be read."""
    read_one = False
    for answer in answers:
        document = answer.document()
        emit(document)
        read_one = read_one or document["extraction_status"] != FAILED
    return read_one


def _write_table(answers: Iterable[ExtractedFile]) -> bool:
    """Write one table; say whether any file could be read."""
    documents = [answer.document() for answer in answers]
    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("file", "merchant", "date", "total", "card", "status", "why"):
        table.add_column(title, justify="right" if title == "total" else "left", overflow="fold")
    common = _common_folder([document["file"] for document in documents])
    for document in documents:
        cells = (document["file"].removeprefix(common), *_cells(document))
        table.add_row(*map(_plain, cells))
    Console(file=sys.stdout).print(table)
    return any(document["extraction_status"] != FAILED for document in documents)


def _plain(cell: str) -> Text:
    """Show a cell as it is: a name may hold what a terminal or the table would obey."""
    return Text(
        "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in cell)
    )


def _cells(document: Mapping[str, Any]) -> tuple[str, ...]:
    amount = " ".join(filter(None, (document["total"], document["currency"])))
    return (
        document["merchant_name"] or "-",
        document["transaction_date"] or "-",
        amount or "-",
        document["card_last4"] or "-",
        document["extraction_status"],
        document["error"] or ", ".join(document["review_reasons"]),
    )


def _common_folder(names: Sequence[str]) -> str:
    """Return the folder all names begin with, which would only make the table wide."""
    try:
        common = os.path.commonpath([os.path.dirname(name) for name in names])  # noqa: PTH120 - text
    except ValueError:  # absolute and relative names, or none
        return ""
    return common and f"{common}/"
