"""The collector's database as tests see it: events go in, rows are looked at."""

from functools import partial
from typing import Any

import psycopg
from psycopg.rows import dict_row

from receipt_collector import failures
from receipt_collector.failures import Failure
from receipt_collector.gate import Recorded
from receipt_collector.record import record
from receipt_collector.store.database import Database
from receipt_contract.results import ResultEvent
from tests.support.results import reference, request_id

Row = dict[str, Any]


class Books:
    """One database, seen through the collector's own connection and through a looker's."""

    def __init__(self, url: str) -> None:
        """Connect the looker."""
        self.url = url
        self.database = Database(url)
        self.looker = psycopg.connect(url, autocommit=True, row_factory=dict_row)

    def close(self) -> None:
        self.database.close()
        self.looker.close()

    def empty(self) -> None:
        """Remove every row, but not what the setup left."""
        tables = self.rows(
            """
            SELECT schemaname || '.' || tablename AS name FROM pg_tables
            WHERE schemaname IN ('budget', 'ingest', 'work') AND tablename <> 'schema_version'
            """
        )
        # Foreign keys off and DELETE, because TRUNCATE of so many tables takes half a second.
        deletes = "".join(f"DELETE FROM {row['name']};" for row in tables)  # noqa: S608
        self.looker.execute(f"SET session_replication_role = replica; {deletes} RESET ALL".encode())

    def apply(self, event: ResultEvent) -> Recorded:
        return self.database.run(partial(record, event=event))

    def fail(self, failure: Failure) -> None:
        self.database.run(partial(failures.record, failure=failure))

    def rows(self, query: str, *values: object) -> list[Row]:
        return self.looker.execute(query.encode(), values).fetchall()

    def row(self, query: str, *values: object) -> Row:
        """Return the one row there is."""
        (found,) = self.rows(query, *values)
        return found

    def count(self, table: str) -> int:
        return int(self.row(f"SELECT count(*) AS found FROM {table}")["found"])  # noqa: S608

    def status(self) -> Row:
        """Return the only receipt's status in the normal reading."""
        return self.row("SELECT * FROM ingest.receipt_processing_status")

    def evidence(self) -> Row:
        """Return the only evidence."""
        return self.row("SELECT * FROM budget.receipt_evidence")

    def ask(self, number: int = 1, *, kind: str = "ReceiptReprocess") -> None:
        """Register an open request."""
        self.looker.execute(
            """
            INSERT INTO work.requests
              (request_id, cluster, namespace, kind, name, run_id, object_uid, wish, state)
            VALUES (%s, 'home', 'receipts', %s, %s, '', 'some-uid', '{}', 'open')
            """,
            (request_id(number), kind, f"request-{number}"),
        )

    def finish(self, number: int = 1) -> None:
        """Finish a request, as the operator does."""
        self.looker.execute(
            """
            UPDATE work.requests SET state = 'finished', finished_at = now(), result = 'Succeeded'
            WHERE request_id = %s
            """,
            (request_id(number),),
        )

    def want(self, number: int = 1, *, at: str | None = None, state: str = "published") -> None:
        """Add an item to a request."""
        self.looker.execute(
            "INSERT INTO work.items (request_id, reference, state) VALUES (%s, %s, %s)",
            (request_id(number), at or reference(), state),
        )

    def item(self, number: int = 1, *, at: str | None = None) -> Row:
        return self.row(
            "SELECT * FROM work.items WHERE request_id = %s AND reference = %s",
            request_id(number),
            at or reference(),
        )
