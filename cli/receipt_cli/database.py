"""`database setup`: brings the schema to this program's version."""

from receipt_cli import addresses
from receipt_cli.output import CommandError, ExitCode, emit
from receipt_collector import schema
from receipt_collector.schema import SchemaError


def setup(dsn: str) -> ExitCode:
    """Create or upgrade, and print what was done to each part."""
    try:
        outcomes = schema.setup(addresses.database(dsn))
    except SchemaError as error:
        raise CommandError(str(error)) from error
    emit({part.value: outcome.value for part, outcome in outcomes.items()})
    return ExitCode.DONE
