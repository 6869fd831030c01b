"""Which references fit the part of a selector that only the database can judge."""

from collections.abc import Sequence
from typing import Any

from receipt_contract.requests import Selector
from receipt_operator.register.database import Database


async def fitting(database: Database, references: Sequence[str], selector: Selector) -> list[str]:
    """Keep the references whose saved extraction and last run fit, in their order.

    A receipt without a saved extraction fits no condition on it.
    """
    parameters = _parameters(selector)
    if not any(value is not None for value in parameters.values()):
        return list(references)
    async with database.read() as connection:
        cursor = await connection.execute(
            """
            SELECT e.source_reference AS reference
              FROM budget.receipt_evidence e
              LEFT JOIN LATERAL (
                SELECT cache_version, processed_at FROM budget.receipt_ocr_runs r
                 WHERE r.source_sha256 = e.source_sha256
                 ORDER BY processed_at DESC LIMIT 1) last ON true
             WHERE e.source_reference = ANY(%(references)s)
               AND (%(statuses)s::text[] IS NULL OR e.extraction_status = ANY(%(statuses)s))
               AND (%(version_below)s::int IS NULL
                    OR coalesce(last.cache_version, 0) < %(version_below)s)
               AND (%(processed_before)s::timestamptz IS NULL
                    OR coalesce(last.processed_at, '-infinity') < %(processed_before)s)
               AND (%(from_date)s::date IS NULL OR e.transaction_date >= %(from_date)s)
               AND (%(to_date)s::date IS NULL OR e.transaction_date <= %(to_date)s)
            """,
            {"references": list(references), **parameters},
        )
        fit = {row["reference"] for row in await cursor.fetchall()}
    return [reference for reference in references if reference in fit]


def _parameters(selector: Selector) -> dict[str, Any]:
    statuses = selector.extraction_status
    dates = selector.transaction_date
    return {
        "statuses": sorted(statuses) if statuses else None,
        "version_below": selector.cache_version_below,
        "processed_before": selector.processed_before,
        "from_date": dates.from_date if dates else None,
        "to_date": dates.to_date if dates else None,
    }
