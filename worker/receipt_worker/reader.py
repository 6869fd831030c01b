"""Reading one receipt in a process of its own, so that no file can hurt the worker.

The reading process is started once and stays warm; a receipt costs a fork, not a start of Python.
"""

import contextlib
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from receipt_contract.errors import (
    AttemptError,
    FailureClass,
    OutageError,
    PermanentError,
    Reason,
    ReceiptError,
)
from receipt_worker import workspace
from receipt_worker.document import Reading
from receipt_worker.reader_process import ANSWERS, Answer, Cost, Request
from receipt_worker.settings import ReadingSettings

GRACE_SECONDS = 15.0  # beyond the deadline, until the reading process itself counts as stuck
CLOSE_SECONDS = 5.0
START_SECONDS = 300.0  # until engines are loaded; two on a quiet machine

_log = structlog.get_logger(__name__)

_CLASSES: dict[FailureClass, type[ReceiptError]] = {
    FailureClass.CONTENT: PermanentError,
    FailureClass.ATTEMPT: AttemptError,
    FailureClass.OUTAGE: OutageError,
}


class Reader:
    """Reads receipts one at a time; a context manager that owns a process and a folder."""

    def __init__(self, settings: ReadingSettings) -> None:
        self._settings = settings
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._cost = Cost()

    @property
    def cost(self) -> Cost:
        """What the last receipt took, whatever became of it; nothing when its process died."""
        return self._cost

    def __enter__(self) -> Self:
        """Sweep leftovers and start the reading process; raises OSError."""
        with ExitStack() as stack:
            self._folder = stack.enter_context(workspace.own_folder(self._settings.work_folder))
            stack.callback(self._stop)
            self._start()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process and remove the folder."""
        self._stack.close()

    def read(self, data: bytes, *, today: date) -> Reading:
        """Read one file's bytes.

        Raises PermanentError for the content; AttemptError: TIMEOUT, KILLED, ENGINE_FAILED,
        INTERNAL_ERROR; OutageError(NO_SPACE).
        """
        return _reading_of(self._ask(data, today=today, drawn=False))

    def draw(self, data: bytes, *, today: date) -> tuple[Reading, bytes]:
        """Read one file's bytes and give a PNG of what was read too. Raises as `read` does."""
        answer = self._ask(data, today=today, drawn=True)
        return _reading_of(answer), answer.picture

    def _ask(self, data: bytes, *, today: date, drawn: bool) -> Answer:
        if self._folder is None:
            raise RuntimeError("a reader is used as a context manager")
        request = Request(self._settings, today, self._folder, drawn)
        with self._lock:
            return self._exchange(request, data)

    def _exchange(self, request: Request, data: bytes) -> Answer:
        self._cost = Cost()
        try:
            connection = self._running()
            connection.send(request)
            connection.send_bytes(data)
            if not connection.poll(self._settings.deadline + GRACE_SECONDS):
                self._stop()
                return Answer(reason=Reason.TIMEOUT)
            answer = connection.recv_bytes()
            self._cost = Cost(*connection.recv())
            return ANSWERS.validate_json(answer)
        except (EOFError, OSError):
            self._stop()
            return Answer(reason=Reason.KILLED)
        except ValueError:  # a torn answer: the child was killed while it wrote
            return Answer(reason=Reason.KILLED)

    def _running(self) -> Connection:
        """Start the process again when it is over."""
        if self._connection is not None and self._process is not None:
            if self._process.poll() is None:
                return self._connection
            self._stop()
        return self._start()

    def _start(self) -> Connection:
        """Return when engines are loaded. Raises OSError."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "receipt_worker.reader_process"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the worker, which finishes what it began
            )
        self._connection = Connection(ours.detach())
        self._connection.send(self._settings)
        if not self._connection.poll(START_SECONDS):
            raise TimeoutError("the reading process does not start")
        try:
            self._connection.recv_bytes()
        except EOFError as error:
            raise ConnectionError("the reading process ended at its start") from error
        return self._connection

    def _stop(self) -> None:
        """End the reading process; it kills its child when our end of the socket closes."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)
            self._process.kill()
            self._process.wait()
            self._process = None


def _reading_of(answer: Answer) -> Reading:
    """Return the reading, or raise why there is none."""
    if answer.trail is not None:
        _log.info("reading failed", reason=answer.reason, failure=answer.trail)
    if answer.reading is not None:
        return answer.reading
    reason = answer.reason or Reason.INTERNAL_ERROR
    raise _CLASSES.get(reason.failure_class, AttemptError)(reason)
