"""Processes and files of a reader, looked at from outside."""

import contextlib
import os
from pathlib import Path


def family(root: int | None = None) -> set[int]:
    """Return the processes below this one, or below another."""
    below: set[int] = set()
    parents = {
        pid: _parent(pid) for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    }
    found = {root or os.getpid()}
    while found:
        found = {pid for pid, parent in parents.items() if parent in found} - below
        below |= found
    return below


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def named(name: str) -> list[int]:
    """Return the processes below this one that run a program of this name."""
    return [pid for pid in family() if _name(pid) == name]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def working_on(folder: Path) -> list[Path]:
    """List all processes of the machine, whoever their parent is, that were given a file here."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            arguments = (process / "cmdline").read_bytes()
            if str(folder).encode() in arguments and b"tesseract" in arguments:
                found.append(process)
    return found


def pictures(folder: Path) -> list[Path]:
    """List what a reading keeps on disk."""
    return list(folder.glob("*/read-*"))


def reading_processes(worker: int | None = None) -> list[int]:
    """Return the warm processes, whose children read."""
    worker = worker or os.getpid()
    return [pid for pid in family(worker) if _parent(pid) == worker and is_reader(pid)]


def reading_children(worker: int | None = None) -> list[int]:
    """Return the children that read."""
    warm = reading_processes(worker)
    return [pid for pid in family(worker) if _parent(pid) in warm and is_reader(pid)]


def is_reader(pid: int) -> bool:
    try:
        return b"reader_process" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
