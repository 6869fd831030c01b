"""The collector's inbox."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "work_0002"
down_revision = "work_0001"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
