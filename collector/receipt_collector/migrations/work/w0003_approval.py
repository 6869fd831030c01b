"""Requests that wait for approval."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "work_0003"
down_revision = "work_0002"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
