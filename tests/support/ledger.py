"""Runs the real `ledger` program."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SECONDS = 120

# What the tester's own shell may hold; a test says everything it means.
_OURS = (
    "DATABASE_URL",
    "HOME_BUDGET_OCR_CACHE",
    "HOME_BUDGET_PG_DSN",
    "RABBITMQ_URL",
    "RECEIPT_SOURCE_ROOT",
)


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output, which is JSON lines."""
        return [json.loads(line) for line in self.stdout.splitlines()]


def run(*arguments: object, env: Mapping[str, str] | None = None) -> Ran:
    """Run a command to its end."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
    done = subprocess.run(
        [sys.executable, "-m", "receipt_cli", *map(str, arguments)],
        env={**inherited, **(env or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
