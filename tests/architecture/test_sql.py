"""Rules for SQL that hold behind a transaction pooler, where the session is another's next."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDERS = ("operator", "collector", "cli")

# The same names with `_xact` in them end with their transaction.
_SESSION_LOCK = re.compile(r"pg_(?:try_)?advisory_(?:lock|unlock)", re.IGNORECASE)
_LISTEN = re.compile(r"\b(?:LISTEN|NOTIFY)\s+\w+\s*[;\"',]")


def _sources() -> list[Path]:
    return [
        path
        for folder in FOLDERS
        for path in (CHECKOUT / folder).rglob("*")
        if path.suffix in {".py", ".sql"}
    ]


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        pytest.param(_SESSION_LOCK, "lock", id="locks end with their transaction"),
        pytest.param(_LISTEN, "notification", id="nothing waits for a notification"),
    ],
)
def test_no_statement_outlives_its_transaction(pattern: re.Pattern[str], what: str) -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}: {match[0]}"
        for path in _sources()
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == [], f"a {what} that belongs to a session"
