"""What the demo shows while it waits, and when it stops waiting."""

from io import StringIO
from typing import Any

import pytest

from dev.demo import watch
from dev.demo.watch import Table

HEAD = "NAME   STATE     DONE   AGE"
RUNNING = "x      Running   1/2    3s"
LATER = "x      Running   1/2    4s"
DONE = "x      Running   2/2    5s"


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def _status(condition: str, run_id: str) -> dict[str, Any]:
    return {"run": {"id": run_id}, "conditions": [{"type": "Finished", "status": condition}]}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({}, False, id="no operator looked at it yet"),
        pytest.param(_status("False", "new"), False, id="it runs"),
        pytest.param(_status("True", "old"), False, id="what is finished is an earlier run"),
        pytest.param(_status("True", "new"), True, id="it has finished"),
    ],
)
def test_a_request_is_waited_for_under_its_run_id(status: dict[str, Any], expected: bool) -> None:
    assert watch.is_finished(status, "new") is expected


def test_a_row_that_only_got_older_is_no_news() -> None:
    stream = StringIO()
    table = Table(stream)

    for row in (RUNNING, LATER, DONE):
        table.show(f"{HEAD}\n{row}\n")

    assert stream.getvalue() == f"{HEAD}\n{RUNNING}\n{DONE}\n"


def test_a_terminal_has_the_table_drawn_in_its_place() -> None:
    stream = _Terminal()
    table = Table(stream)

    table.show(f"{HEAD}\n{RUNNING}\n")
    table.show(f"{HEAD}\n{DONE}\n")

    assert stream.getvalue() == f"{HEAD}\n{RUNNING}\n\x1b[2A\x1b[J{HEAD}\n{DONE}\n"
