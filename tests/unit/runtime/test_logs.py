"""What a log line holds, and what it never does."""

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from receipt_runtime import logs

SECRET = "4111-1111-1111-1111"  # noqa: S105 - stands for whatever a library prints


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Give what is written to standard error, with logging as a process of ours has it."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    root = logging.getLogger()
    before = (root.handlers, root.level)
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    monkeypatch.setattr("threading.excepthook", threading.excepthook)
    logs.configure("receipt-test", level="INFO")
    yield stream
    root.handlers, root.level = before
    structlog.reset_defaults()


def _only(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    parsed: dict[str, Any] = json.loads(line)
    return parsed


def _failure() -> RuntimeError:
    """Return an exception with a cause, both raised for real."""
    try:
        try:
            raise KeyError(SECRET)  # noqa: TRY301 - a cause is wanted
        except KeyError as cause:
            raise RuntimeError(SECRET) from cause
    except RuntimeError as error:
        return error


def test_a_line_is_json_with_its_context(lines: io.StringIO) -> None:
    structlog.get_logger("receipt_runtime.some").info("read", queue="q", count=3)

    line = _only(lines)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "receipt_runtime.some",
        "service": "receipt-test",
        "message": "read",
        "queue": "q",
        "count": 3,
    }


def test_g8_an_exception_is_logged_by_class_and_place_only(lines: io.StringIO) -> None:
    structlog.get_logger("receipt_runtime.some").error("failed", exc_info=_failure())

    line = _only(lines)
    assert line["failure"].startswith("RuntimeError at test_logs:")
    assert " < KeyError at test_logs:" in line["failure"]
    assert SECRET not in json.dumps(line)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        pytest.param("fail()", "the program ended on an error", id="the program"),
        pytest.param(
            "threading.Thread(target=fail).start()", "a thread ended on an error", id="a thread"
        ),
    ],
)
def test_g8_what_nobody_catches_is_logged_by_class_and_place_only(
    ending: str, message: str
) -> None:
    program = (
        "import threading\n"
        "from receipt_runtime import logs\n"
        "def fail():\n"
        f"    raise RuntimeError({SECRET!r})\n"
        "logs.configure('receipt-test', level='INFO')\n"
        f"{ending}\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    line = _only(io.StringIO(ended.stderr))
    assert line["message"] == message
    assert line["failure"].startswith("RuntimeError at")
    assert SECRET not in ended.stderr


def test_g8_a_library_appears_with_its_template_only(lines: io.StringIO) -> None:
    logging.getLogger("some.library").warning("cannot reach %s", SECRET)

    line = _only(lines)
    assert line["message"] == "cannot reach %s"
    assert SECRET not in json.dumps(line)


def test_g8_a_library_that_formats_by_itself_appears_with_its_place_only(
    lines: io.StringIO,
) -> None:
    logging.getLogger("some.library").error(f"cannot reach {SECRET}", exc_info=_failure())  # noqa: G004 - what libraries do

    line = _only(lines)
    assert line["message"] == "A library reported a problem."
    assert line["at"].startswith("test_logs:")
    assert line["failure"].startswith("RuntimeError at")
    assert SECRET not in json.dumps(line)


def test_g8_the_amqp_library_is_silent(lines: io.StringIO) -> None:
    logging.getLogger("pika.adapters").critical("amqp://%s", SECRET)

    assert lines.getvalue() == ""


def test_lines_of_libraries_below_a_warning_are_dropped(lines: io.StringIO) -> None:
    logging.getLogger("some.library").info("fine")

    assert lines.getvalue() == ""


def test_g7_a_long_value_is_cut(lines: io.StringIO) -> None:
    structlog.get_logger("receipt_runtime.some").info("read", text="x" * 10_000)

    assert len(_only(lines)["text"]) == logs.MAX_VALUE_CHARACTERS


def test_g7_a_line_stays_within_its_limit(lines: io.StringIO) -> None:
    many = {f"key{number}": "ä" * 250 for number in range(50)}
    structlog.get_logger("receipt_runtime.some").info("read", **many)

    assert len(lines.getvalue().encode()) <= logs.MAX_LINE_BYTES
    assert _only(lines)["shortened"] is True
