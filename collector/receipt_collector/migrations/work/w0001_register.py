"""The operator's register of requests and items."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "work_0001"
down_revision = None


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
