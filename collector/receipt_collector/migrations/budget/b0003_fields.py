"""Every field of a receipt, as result schema 2 tells it."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "budget_0003"
down_revision = "budget_0002"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
