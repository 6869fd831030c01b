"""Names that people gave to merchants."""

from receipt_collector.store.database import Connection


def aliases(connection: Connection) -> dict[str, str]:
    """Return the merchant's name for each alias in use."""
    rows = connection.execute(
        "SELECT alias_name, merchant_name FROM budget.merchant_aliases WHERE is_active"
    ).fetchall()
    return dict(rows)
