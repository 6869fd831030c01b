import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import process
from dev.process import Identity, ProcessError

_FOREVER = "import time; print('up', flush=True); time.sleep(600)"
_DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {_FOREVER}"
# A parent whose child leaves the session, as PostgreSQL's do.
_WITH_CHILD = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {_FOREVER!r}], start_new_session=True).wait()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "program.log"


@pytest.fixture
def started() -> Iterator[list[Identity]]:
    """Collect what a test starts; whatever of it lives at the end is killed."""
    programs: list[Identity] = []
    yield programs
    for program in programs:
        process.kill(program)


def test_a_process_is_alive_until_it_is_stopped(log: Path, started: list[Identity]) -> None:
    program = _start(_FOREVER, log, started)

    assert process.is_alive(program)

    process.stop(program, first=signal.SIGTERM, patience_seconds=10)

    assert not process.is_alive(program)


def test_a_process_that_ignores_the_request_to_end_is_killed(
    log: Path, started: list[Identity]
) -> None:
    program = _start(_DEAF, log, started)

    process.stop(program, first=signal.SIGTERM, patience_seconds=0.2)

    assert not process.is_alive(program)


def test_a_paused_process_can_be_stopped(log: Path, started: list[Identity]) -> None:
    program = _start(_FOREVER, log, started)
    process.send([program], signal.SIGSTOP)

    process.stop(program, first=signal.SIGTERM, patience_seconds=10)

    assert not process.is_alive(program)


def test_a_child_in_a_session_of_its_own_is_killed_too(log: Path, started: list[Identity]) -> None:
    program = _start(_WITH_CHILD, log, started)
    members = process.family(program)

    process.kill(program)

    assert len(members) == 2
    assert not any(process.is_alive(member) for member in members)


def test_another_process_under_a_reused_id_is_left_alone(
    log: Path, started: list[Identity]
) -> None:
    program = _start(_FOREVER, log, started)
    gone = program._replace(started=program.started - 1)  # an earlier one with the same id

    process.kill(gone)

    assert process.family(gone) == []
    assert process.is_alive(program)


def test_a_failed_program_is_reported_with_the_end_of_its_log(log: Path) -> None:
    argv = [sys.executable, "-c", "print('the disk is full'); raise SystemExit(3)"]

    with pytest.raises(ProcessError, match=r"ended with 3\n.*\nthe disk is full"):
        process.run(argv, log=log, env=os.environ)


def test_processes_are_found_by_a_mark_that_they_inherited(
    log: Path, started: list[Identity]
) -> None:
    marked = _start(_FOREVER, log, started, env={**os.environ, "MARK_OF_THIS_TEST": "a"})
    _start(_FOREVER, log, started, env={**os.environ, "MARK_OF_THIS_TEST": "b"})

    assert process.marked("MARK_OF_THIS_TEST", "a") == [marked]


def _start(
    code: str, log: Path, started: list[Identity], *, env: dict[str, str] | None = None
) -> Identity:
    """Start Python code and wait until it, or the child it starts, says that it is up."""
    log.unlink(missing_ok=True)
    program = process.start([sys.executable, "-c", code], log=log, env=env or dict(os.environ))
    started.append(program)
    waiting = ["sh", "-c", 'until grep -q up "$1"; do sleep 0.02; done', "sh", str(log)]
    subprocess.run(waiting, check=True, timeout=30)
    return program
