import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dev import daemon
from dev.daemon import Command, Daemon
from dev.errors import StartError

_READY_SECONDS = 30


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Daemon]:
    program = Daemon(tmp_path, "program")
    yield program
    program.kill()


def test_another_object_of_the_same_name_finds_and_ends_the_program(
    program: Daemon, tmp_path: Path
) -> None:
    _start(program)

    assert Daemon(tmp_path, "program").is_alive()

    Daemon(tmp_path, "program").stop()

    assert not program.is_alive()


def test_a_program_that_ends_as_it_starts_is_reported_with_its_log(program: Daemon) -> None:
    command = _python("print('no such file'); raise SystemExit(1)")

    with pytest.raises(StartError, match=r"ended as it was started\n.*\nno such file"):
        program.start(command, is_ready=lambda: False, ready_seconds=_READY_SECONDS)


def test_a_program_that_never_gets_ready_is_reported_and_ended(program: Daemon) -> None:
    command = _python("import time; time.sleep(600)")

    with pytest.raises(StartError, match="not ready in"):
        program.start(command, is_ready=lambda: False, ready_seconds=0.1)

    assert not program.is_alive()


def test_an_interrupted_start_leaves_nothing_behind(program: Daemon) -> None:
    def interrupted() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.start(
            _python("import time; time.sleep(600)"),
            is_ready=interrupted,
            ready_seconds=_READY_SECONDS,
        )

    assert not program.is_alive()


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(Daemon.stop, id="stopped while it does not run"),
        pytest.param(Daemon.kill, id="killed while it does not run"),
        pytest.param(Daemon.pause, id="paused while it does not run"),
    ],
)
def test_a_program_that_does_not_run_takes_every_command(
    program: Daemon, end: Callable[[Daemon], None]
) -> None:
    end(program)

    assert not program.is_alive()


def test_recorded_programs_come_latest_first(tmp_path: Path) -> None:
    older, newer = Daemon(tmp_path, "older"), Daemon(tmp_path, "newer")
    try:
        _start(older)
        _start(newer)

        assert [one.name for one in daemon.recorded(tmp_path)] == ["newer", "older"]
    finally:
        older.kill()
        newer.kill()


def _start(program: Daemon) -> None:
    program.start(
        _python("print('up', flush=True); import time; time.sleep(600)"),
        is_ready=lambda: "up" in program.log.read_text(encoding="utf-8"),
        ready_seconds=_READY_SECONDS,
    )


def _python(code: str) -> Command:
    return Command(argv=[sys.executable, "-c", code], env=os.environ)
