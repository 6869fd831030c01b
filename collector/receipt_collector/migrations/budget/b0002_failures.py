"""Failure rows."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "budget_0002"
down_revision = "budget_0001"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
