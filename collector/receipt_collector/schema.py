"""The schema's life: created, upgraded, or found to be of another age than this program.

Three parts, each a PostgreSQL schema that carries its own version, so that `ingest` may be dropped
and set up again. One transaction does all parts: a setup that is cut off has changed nothing.
Never touches a row of data.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from receipt_collector.store import database, versions
from receipt_collector.store.database import Connection
from receipt_contract.errors import OutageError, Reason

VERSION_TABLE = "schema_version"

_MIGRATIONS = Path(__file__).parent / "migrations"


class Part(StrEnum):
    """A schema of ours, in the order of setup: later ones may speak of earlier ones."""

    BUDGET = "budget"
    INGEST = "ingest"
    WORK = "work"


# Tables of the first revision that nobody else has a reason to make.
_TELLING = {
    Part.BUDGET: ["expenses", "receipt_evidence"],
    Part.INGEST: ["receipts"],
    Part.WORK: ["requests", "inbox"],
}


class Outcome(StrEnum):
    """What a setup did to a part."""

    CREATED = "created"
    UPGRADED = "upgraded"
    ALREADY_CURRENT = "already_current"


class SchemaError(Exception):
    """The database holds another schema than this program works with; the text says what to do."""


def setup(dsn: str, target: Mapping[Part, str] | None = None) -> dict[Part, Outcome]:
    """Bring every part to this program's version; two at once wait for each other.

    `target` names a revision for each part, the newest where it names none. Raises SchemaError
    when a part is newer than this program, OutageError when the database does not answer.
    """
    wanted = target or {}
    with _transaction(dsn) as (ours, connection):
        versions.prepare(connection)
        return {
            part: _migrate(ours, connection, part=part, revision=wanted.get(part, "head"))
            for part in Part
        }


def revisions(part: Part) -> list[str]:
    """Names of a part's revisions, oldest first."""
    script = ScriptDirectory.from_config(_config(part))
    return [revision.revision for revision in script.walk_revisions()][::-1]


def check(connection: Connection) -> None:
    """Compare the database with this program; raises SchemaError saying what to do."""
    for part in Part:
        _compare(part, versions.current(connection, schema=part, table=VERSION_TABLE))


@contextmanager
def _transaction(dsn: str) -> Iterator[tuple[sqlalchemy.Connection, Connection]]:
    """Open one transaction, seen through SQLAlchemy for Alembic and through the driver for us."""
    opened: list[Connection] = []

    def creator() -> Connection:
        opened.append(database.connect(dsn))
        return opened[-1]

    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=creator, poolclass=sqlalchemy.NullPool
    )
    try:
        with database.translated(), engine.begin() as connection:
            yield connection, opened[-1]
    except sqlalchemy.exc.DBAPIError as error:  # of Alembic's own statements and of the commit
        raise OutageError(Reason.DATABASE_UNAVAILABLE) from error


def _migrate(
    ours: sqlalchemy.Connection, connection: Connection, *, part: Part, revision: str
) -> Outcome:
    versions.create_schema(connection, schema=part)
    before = versions.current(connection, schema=part, table=VERSION_TABLE)
    _refuse_newer(part, before)
    if before is None and versions.collides(connection, schema=part, names=_TELLING[part]):
        raise SchemaError(f"schema {part} holds tables of another program: nothing was changed")
    config = _config(part)
    config.attributes["connection"] = ours
    command.upgrade(config, revision)
    after = versions.current(connection, schema=part, table=VERSION_TABLE)
    if before is None:
        return Outcome.CREATED
    return Outcome.ALREADY_CURRENT if before == after else Outcome.UPGRADED


def _compare(part: Part, found: str | None) -> None:
    _refuse_newer(part, found)
    if found != revisions(part)[-1]:
        state = "missing" if found is None else "older than this program"
        raise SchemaError(f"schema {part} is {state}: run `ledger database setup`")


def _refuse_newer(part: Part, found: str | None) -> None:
    if found is not None and found not in revisions(part):
        raise SchemaError(
            f"schema {part} is newer than this program: run a newer version of this program"
        )


def _config(part: Part) -> Config:
    config = Config()
    config.set_main_option("script_location", _escaped(_MIGRATIONS))
    config.set_main_option("version_locations", _escaped(_MIGRATIONS / part))
    config.set_main_option("path_separator", "newline")
    config.attributes["part"] = part
    return config


def _escaped(path: Path) -> str:
    return str(path).replace("%", "%%")  # the configuration reads per cent signs as references
