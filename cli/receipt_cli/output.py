"""What people and programs get: JSON lines on standard output, sentences on standard error."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, TextIO


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1  # nothing or only a part was done; the sentence says why
    USAGE = 2  # the command was not understood, or nothing was selected


class CommandError(Exception):
    """A command cannot do its work; the text is one sentence for people, without any secret."""


def emit(document: Mapping[str, Any]) -> None:
    """Write one JSON line, keys sorted."""
    _write(sys.stdout, json.dumps(document, sort_keys=True, ensure_ascii=False, default=_plain))


def emit_text(line: str) -> None:
    """Write one line that people asked for instead of JSON."""
    _write(sys.stdout, line)


def say(sentence: str) -> None:
    """Tell a person something."""
    _write(sys.stderr, sentence)


def _plain(value: object) -> str:
    """Write a moment as ISO 8601 in UTC; nothing else that is no JSON is ours to print."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")
    raise TypeError(type(value).__name__)


def _write(stream: TextIO, line: str) -> None:
    stream.write(line + "\n")
    stream.flush()
