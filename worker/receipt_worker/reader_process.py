"""The reading process: warm and single-threaded, it forks one child for each receipt.

Started by `reader` with its end of a socket as standard input. The child has its own process group
and memory limit, and its programs a limit of what they compute. When it is over, at the deadline,
or when the worker is gone, the whole group is killed and its temporary folder removed. Nothing of a
receipt outlives its child.
"""

import contextlib
import ctypes
import errno
import gc
import math
import os
import resource
import signal
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from datetime import date
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

from pydantic import ConfigDict, TypeAdapter

from receipt_contract.errors import AttemptError, Reason, ReceiptError
from receipt_runtime import logs
from receipt_worker import drawing, reading, warming
from receipt_worker.document import Reading
from receipt_worker.engines import choice, tesseract
from receipt_worker.extraction import vocabulary
from receipt_worker.settings import ReadingSettings

READY = b"ready"
KIB = 1024  # the kernel counts memory in these
CHUNK_BYTES = 1024 * 1024
ALARM_SPARE_SECONDS = 5  # the child ends itself this long after the deadline, if nobody else does

PR_SET_PDEATHSIG = 1  # prctl(2)
_LIBC = ctypes.CDLL(None)

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True)
class Request:
    """What the worker asks for; the file's bytes follow as the next message."""

    settings: ReadingSettings
    today: date
    folder: Path
    drawn: bool = False  # whether a picture of the result is wanted


@dataclass(frozen=True)
class Answer:
    """A reading, or why there is none; `trail` names classes and places of an inner error."""

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    reading: Reading | None = None
    picture: bytes = b""  # PNG
    reason: Reason | None = None
    trail: str | None = None


@dataclass(frozen=True)
class Cost:
    """What one receipt took: seconds its processes computed, bytes the largest of them held."""

    cpu_seconds: float = 0.0
    peak_bytes: int = 0


ANSWERS: TypeAdapter[Answer] = TypeAdapter(Answer)


def main() -> int:
    """Serve requests until the worker is gone."""
    worker = _worker()
    with contextlib.suppress(EOFError, OSError):
        _warm(worker.recv())
        worker.send_bytes(READY)
        while True:
            request: Request = worker.recv()
            data = worker.recv_bytes()
            answer, cost = _answer(request, data, worker)
            if answer is None:
                break
            worker.send_bytes(answer)
            worker.send(astuple(cost))
    return 0


def _worker() -> Connection:
    """Take the socket away from standard input, which every program we start would share."""
    socket = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Connection(socket)


def _warm(settings: ReadingSettings) -> None:
    """Do once what every child would do again."""
    warming.warm(vocabulary.load(settings.words))
    with contextlib.suppress(AttemptError):  # without an engine each receipt says so
        tesseract.version()
        choice.second_engine(settings.engines, timeout=settings.pass_timeout)
    gc.collect()
    gc.freeze()  # or a child that looks for garbage copies all that we share with it


def _answer(request: Request, data: bytes, worker: Connection) -> tuple[bytes | None, Cost]:
    """Read in a child; no answer when the worker went away meanwhile."""
    with tempfile.TemporaryDirectory(
        prefix="read-", dir=request.folder, ignore_cleanup_errors=True
    ) as folder:
        results, child_end = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            os.close(results)
            worker.close()  # or the worker would not see the end of this process while we live
            _read_and_exit(request, data, folder=folder, out=child_end, parent=parent)
        os.close(child_end)
        try:
            answer = _collect(results, worker, deadline=request.settings.deadline)
        finally:
            os.close(results)
            cost = _end_group(child)
        return answer, cost


def _collect(results: int, worker: Connection, *, deadline: float) -> bytes | None:
    """Gather what the child writes; an early end of it means that it was killed."""
    ends = time.monotonic() + deadline
    chunks: list[bytes] = []
    while True:
        left = ends - time.monotonic()
        ready = wait([results, worker], timeout=max(0.0, left))
        if worker in ready:
            return None  # nothing is sent while we read, so this is the end of the worker
        if not ready:
            return ANSWERS.dump_json(Answer(reason=Reason.TIMEOUT))
        chunk = os.read(results, CHUNK_BYTES)
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks) or ANSWERS.dump_json(Answer(reason=Reason.KILLED))


def _end_group(child: int) -> Cost:
    """Kill the child with all it started, and reap it. The child leads its group until reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # when it had no time to make its group
    _, _, used = os.wait4(child, 0)
    return Cost(round(used.ru_utime + used.ru_stime, 3), used.ru_maxrss * KIB)


def _read_and_exit(request: Request, data: bytes, *, folder: str, out: int, parent: int) -> None:
    """Life of the child; never returns."""
    try:
        os.setsid()
        _die_with(parent)
        signal.alarm(int(request.settings.deadline) + ALARM_SPARE_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (request.settings.memory,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit_programs(request.settings.pass_timeout)
        tempfile.tempdir = folder
        _write(out, ANSWERS.dump_json(_try(request, data)))
    finally:
        os._exit(0)


def _die_with(parent: int) -> None:
    """Have the kernel end this process when its parent is killed, or do so if it was already."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def limit_programs(seconds: float) -> None:
    """Have the kernel end each program of ours that computes longer.

    Programs inherit the limit. We outlive the signal, after which the kernel adds a second each
    time: a program that starts when we computed longer ourselves may do so too.
    """
    signal.signal(signal.SIGXCPU, _outlive)  # to ignore it would be inherited as well
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = math.ceil(seconds)
    own = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_CPU, (own, most))


def _outlive(_number: int, _frame: FrameType | None) -> None:
    """Do nothing."""


def _try(request: Request, data: bytes) -> Answer:
    try:
        seen = reading.look(data, request.settings, today=request.today)
        return Answer(seen.reading, drawing.draw(*seen) if request.drawn else b"")
    except ReceiptError as failure:
        return Answer(reason=failure.reason, trail=logs.trail(failure))
    except MemoryError as failure:
        return Answer(reason=Reason.KILLED, trail=logs.trail(failure))
    except OSError as failure:
        full = failure.errno in DISK_FULL_ERRNOS
        reason = Reason.NO_SPACE if full else Reason.INTERNAL_ERROR
        return Answer(reason=reason, trail=logs.trail(failure))
    except Exception as failure:  # noqa: BLE001 - the main function of the child
        return Answer(reason=Reason.INTERNAL_ERROR, trail=logs.trail(failure))


def _write(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]


if __name__ == "__main__":
    sys.exit(main())
