"""`receipts show` and `receipts export`: saved extractions as JSON lines."""

from receipt_cli.output import ExitCode, emit, say
from receipt_operator.register import saved
from receipt_operator.register.reading import reader


def one(dsn: str, reference: str) -> ExitCode:
    """Print what is saved for a reference."""
    with reader(dsn) as connection:
        rows = saved.of_reference(connection, reference)
    for row in rows:
        emit(row)
    if rows:
        return ExitCode.DONE
    say("Nothing is saved for this reference.")
    return ExitCode.FAILED


def every(dsn: str, prefix: str) -> ExitCode:
    """Print everything that is saved below a prefix."""
    with reader(dsn) as connection:
        for row in saved.all_below(connection, prefix):
            emit(row)
    return ExitCode.DONE
