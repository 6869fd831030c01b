"""The evidence that stands for an expense is found at once, however often it was scanned."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "budget_0004"
down_revision = "budget_0003"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
