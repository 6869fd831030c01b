"""Watching something while it happens: the most that was seen, and a program's memory."""

import os
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


def processor_seconds(daemon: Daemon) -> float:
    """Return the processor time that a program and what it started took so far."""
    ticks = sum(_ticks(one.pid) for one in daemon.family())
    return ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0
    after_name = stat[stat.rindex(")") + 2 :].split()
    user, system = after_name[11:13]  # the 14th and 15th of proc(5)
    return int(user) + int(system)


def _resident_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
