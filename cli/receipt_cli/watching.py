"""`requests watch`: a request's line whenever it has changed, until it has finished."""

import time

from receipt_cli import addresses
from receipt_cli.output import ExitCode, emit, say
from receipt_operator.register import overview
from receipt_operator.register.reading import reader

FINISHED = "finished"


def run(dsn: str, request_id: str, *, every: float) -> ExitCode:
    """Look every few seconds; a database that is away ends the command."""
    shown = None
    with reader(addresses.database(dsn)) as connection:
        while (row := overview.request(connection, request_id)) is not None:
            if row != shown:
                emit(row)
                shown = row
            if row["state"] == FINISHED:
                return ExitCode.FAILED if row["failed"] else ExitCode.DONE
            time.sleep(every)
    say("No request has this id.")
    return ExitCode.FAILED
