"""Ends a test session's stack when the session ends, in whatever way it ends.

A small process of its own waits on a pipe whose other end only the session holds. A session that is
killed cannot clean up; the kernel closes its end of the pipe all the same.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path

from dev import folders, process
from dev.errors import DevError
from dev.stack import Stack

# Inherited by everything the session starts, so that its programs are found without the session.
MARK = "RECEIPT_OPERATOR_LEASH"

_PREFIX = "test-"
_RELEASE_SECONDS = 120


class Leash:
    """Held by the session as long as its stack shall live."""

    def __init__(self, stack: Stack) -> None:
        """Start the process; from now on everything this session starts carries the mark."""
        mark = secrets.token_hex(8)
        self._log = _log(stack.name)
        with self._log.open("wb") as log:
            self._watcher = subprocess.Popen(
                [sys.executable, "-m", "dev.leash", stack.name, mark],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=folders.CHECKOUT,
                env={name: value for name, value in os.environ.items() if name != MARK},
                start_new_session=True,  # a Ctrl-C is for the session alone
            )
        self._mark_before = os.environ.get(MARK)  # a session may run inside another
        os.environ[MARK] = mark

    def release(self) -> None:
        """End the stack and everything else this session started. Raises DevError."""
        os.environ.pop(MARK)
        if self._mark_before is not None:
            os.environ[MARK] = self._mark_before
        self._watcher.communicate(timeout=_RELEASE_SECONDS)
        process.collect_exits()  # it was the watcher that ended our children
        if self._watcher.returncode != 0:
            raise DevError(f"services were not ended\n{process.last_lines(self._log)}")


def stack_name(pid: int) -> str:
    """Return the name of the stack of the test session with this process id."""
    return f"{_PREFIX}{pid}"


def _log(name: str) -> Path:
    """Return the log of a leash: it is there only while the leash lives, or when it failed."""
    return folders.services() / f"{name}.leash.log"


def _main(name: str, mark: str) -> None:
    sys.stdin.read()
    for program in process.marked(MARK, mark):
        process.kill(program)
    Stack(name).down()
    _log(name).unlink()


if __name__ == "__main__":
    _main(*sys.argv[1:])
