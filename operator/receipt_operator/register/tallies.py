"""Statements on `work.tallies`: how many items of each unfinished request stand in which state.

The database adds a row with every change of items, in the same transaction (`work_0004`), so the
sum of a request's rows is what counting its items would give, at a hundredth of the cost.
"""

from collections.abc import Sequence

from receipt_operator.register.database import Connection, Database

MOST_ROWS = 1000  # of a small request; summing so many takes half a millisecond
ITEMS_A_ROW = 100  # of a large one: counting a million anew takes as long as summing that often

WITH_COUNTS = """
    SELECT r.*, c.* FROM work.requests r
     CROSS JOIN LATERAL (
        SELECT sum(t.planned) AS live_planned, sum(t.publishing) AS live_publishing,
               sum(t.published) AS live_published, sum(t.done) AS live_done,
               sum(t.failed) AS live_failed, sum(t.skipped) AS live_skipped,
               sum(t.confirmed) AS live_confirmed, sum(t.publications) AS live_publications,
               max(t.last_ended_at) AS last_advance_at
          FROM work.tallies t
         WHERE t.request_id = r.request_id AND r.state <> 'finished') c
"""


async def worn(database: Database, request_ids: Sequence[str]) -> list[str]:
    """Of these requests, those with so many rows that counting anew pays."""
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT request_id::text FROM work.tallies
             WHERE request_id = ANY(%(ids)s::uuid[])
             GROUP BY request_id
            HAVING count(*) > greatest(%(most)s, sum(planned + publishing + published + done
                                                     + failed + skipped) / %(items_a_row)s)
            """,
            {"ids": list(request_ids), "most": MOST_ROWS, "items_a_row": ITEMS_A_ROW},
        )
        return [row["request_id"] for row in await cursor.fetchall()]


async def recount(connection: Connection, request_ids: Sequence[str]) -> None:
    """Count the items of unfinished requests anew, in place of whatever rows they had.

    One statement sees the rows and the items of one moment; what changes meanwhile adds its row
    behind it, so nobody has to wait. Two at once for one request would both add: only the holder of
    the lease calls this, and from one place.
    """
    await connection.execute(
        """
        WITH replaced AS (DELETE FROM work.tallies WHERE request_id = ANY(%(ids)s::uuid[]))
        INSERT INTO work.tallies
        SELECT request_id,
               count(*) FILTER (WHERE state = 'planned'),
               count(*) FILTER (WHERE state = 'publishing'),
               count(*) FILTER (WHERE state = 'published'),
               count(*) FILTER (WHERE state = 'done'),
               count(*) FILTER (WHERE state = 'failed'),
               count(*) FILTER (WHERE state = 'skipped'),
               count(*) FILTER (WHERE publications > 0),
               sum(publications),
               max(ended_at)
          FROM work.items WHERE request_id = ANY(%(ids)s::uuid[]) GROUP BY request_id
        """,
        {"ids": list(request_ids)},
    )


async def forget(connection: Connection, request_id: str) -> None:
    """Remove the rows of a request whose counts are frozen; the caller holds the request row."""
    await connection.execute(
        "DELETE FROM work.tallies WHERE request_id = %(request_id)s", {"request_id": request_id}
    )
