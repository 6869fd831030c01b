"""Watching something while it happens: the most that was seen, and a program's memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dev.daemon import Daemon

SAMPLE_SECONDS = 0.5
_KIB = 1024


@dataclass
class Most:
    """The most that was seen so far."""

    value: float = 0


@contextmanager
def watching(look: Callable[[], float]) -> Iterator[Most]:
    """Look twice a second on a thread until the block ends."""
    most = Most()
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(SAMPLE_SECONDS):
            most.value = max(most.value, look())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield most
    finally:
        stop.set()
        thread.join()


def memory_mb(daemon: Daemon) -> float:
    """Return the resident memory of a program and what it started, in MiB; 0 when it is gone."""
    return sum(_resident_kib(one.pid) for one in daemon.family()) / _KIB


def _resident_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
