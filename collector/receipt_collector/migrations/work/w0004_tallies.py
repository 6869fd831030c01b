"""Counts of items, kept by the database."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "work_0004"
down_revision = "work_0003"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
