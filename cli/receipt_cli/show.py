"""What the database holds, as JSON lines: saved extractions, requests, dead letters."""

from receipt_cli import addresses
from receipt_cli.output import ExitCode, emit, say
from receipt_operator.register import overview, saved
from receipt_operator.register.reading import reader


def receipt(dsn: str, reference: str) -> ExitCode:
    """Print what is saved for a reference."""
    with reader(addresses.database(dsn)) as connection:
        rows = saved.of_reference(connection, reference)
    for row in rows:
        emit(row)
    if rows:
        return ExitCode.DONE
    say("Nothing is saved for this reference.")
    return ExitCode.FAILED


def receipts(dsn: str, prefix: str) -> ExitCode:
    """Print everything that is saved below a prefix."""
    with reader(addresses.database(dsn)) as connection:
        for row in saved.all_below(connection, prefix):
            emit(row)
    return ExitCode.DONE


def requests(dsn: str, *, limit: int) -> ExitCode:
    """Print the newest requests of every cluster."""
    with reader(addresses.database(dsn)) as connection:
        for row in overview.requests(connection, limit=limit):
            emit(row)
    return ExitCode.DONE


def request(dsn: str, request_id: str, *, state: str | None) -> ExitCode:
    """Print one request, then its items."""
    with reader(addresses.database(dsn)) as connection:
        row = overview.request(connection, request_id)
        if row is None:
            say("No request has this id.")
            return ExitCode.FAILED
        emit({**row, "wish": overview.wish(connection, request_id)})
        for item in overview.items(connection, request_id, state=state):
            emit(item)
    return ExitCode.DONE


def dead(dsn: str, *, limit: int) -> ExitCode:
    """Print the latest dead letters."""
    with reader(addresses.database(dsn)) as connection:
        for row in overview.dead(connection, limit=limit):
            emit(row)
    return ExitCode.DONE


def dead_letter(dsn: str, failure_id: str) -> ExitCode:
    """Print one dead letter whole."""
    with reader(addresses.database(dsn)) as connection:
        row = overview.dead_letter(connection, failure_id)
    if row is None:
        say("No dead letter has this id.")
        return ExitCode.FAILED
    emit(row)
    return ExitCode.DONE
