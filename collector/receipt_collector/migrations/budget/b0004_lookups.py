"""What each event looks for is found without reading a table, however much is stored."""

from pathlib import Path

from receipt_collector.migrations import sql

revision = "budget_0004"
down_revision = "budget_0003"


def upgrade() -> None:
    sql.run(Path(__file__).with_suffix(".sql"))
