"""Runs the SQL file of a revision on the connection of the migration."""

from pathlib import Path

from alembic import op


def run(path: Path) -> None:
    """Execute every statement of the file; the caller's transaction makes them one step."""
    # By the driver itself: SQLAlchemy would read colons and per cent signs as placeholders.
    driver = op.get_bind().connection.driver_connection
    if driver is None:
        raise RuntimeError("a migration runs on an open connection")
    driver.execute(path.read_text(encoding="utf-8"))
