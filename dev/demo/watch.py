"""Watches objects to their end: the table of `kubectl get` is drawn again as it changes.

On a terminal the table stays in place; elsewhere each changed row is one more line.
"""

import json
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from dev.demo.errors import DemoError
from dev.kubernetes.cluster import Cluster

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 180.0

_UP_AND_CLEAR = "\x1b[{lines}A\x1b[J"


def until_finished(
    cluster: Cluster, kind: str, name: str, *, namespace: str, run_id: str
) -> dict[str, Any]:
    """Return the status of a request that has ended, its table shown all the while.

    Raises DemoError when that takes too long.
    """
    table = Table(sys.stdout)
    deadline = time.monotonic() + PATIENCE_SECONDS
    where = ("--namespace", namespace, kind, name)
    while True:
        document = json.loads(cluster.kubectl("get", *where, "--output=json"))
        table.show(cluster.kubectl("get", *where))
        status: dict[str, Any] = document.get("status", {})
        if is_finished(status, run_id):
            return status
        if time.monotonic() > deadline:
            raise DemoError(f"{kind}/{name} did not finish in {PATIENCE_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)


def is_finished(status: Mapping[str, Any], run_id: str) -> bool:
    """Say whether the request of this runId has ended."""
    conditions = status.get("conditions", ())
    ended = any(one["type"] == "Finished" and one["status"] == "True" for one in conditions)
    return ended and status.get("run", {}).get("id") == run_id


class Table:
    """One table on a stream, shown again and again."""

    def __init__(self, stream: TextIO) -> None:
        """Begin below whatever stands there."""
        self._stream = stream
        self._shown: list[str] = []

    def show(self, text: str) -> None:
        """Draw the table as it is now."""
        lines = text.rstrip("\n").splitlines()
        if not self._stream.isatty():
            self._write(line for line in lines if _without_age(line) not in self._shown)
            self._shown = [_without_age(line) for line in lines]
            return
        if self._shown:
            self._stream.write(_UP_AND_CLEAR.format(lines=len(self._shown)))
        self._write(lines)
        self._shown = lines

    def _write(self, lines: Any) -> None:
        for line in lines:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def _without_age(line: str) -> str:
    """Drop the last column, which changes every second."""
    return line.rpartition(" ")[0].rstrip()
