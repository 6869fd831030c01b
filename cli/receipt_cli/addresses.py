"""Addresses given on the command line, refused before anyone connects to something else."""

from pydantic import TypeAdapter, ValidationError

from receipt_cli.output import CommandError
from receipt_collector.store.database import check_dsn
from receipt_runtime.settings import BrokerUrl

_BROKER: TypeAdapter[BrokerUrl] = TypeAdapter(BrokerUrl)


def broker(url: str) -> str:
    """Return the URL when it is a broker's; raises CommandError, which does not show it."""
    try:
        return _BROKER.validate_python(url).get_secret_value()
    except ValidationError as error:
        wanted = "an address like amqp://user:password@host:5672/vhost is wanted"
        raise CommandError(f"RABBITMQ_URL: {wanted}.") from error


def database(dsn: str) -> str:
    """Return the DSN when it is one; raises CommandError, which does not show it."""
    try:
        check_dsn(dsn)
    except ValueError as error:
        raise CommandError("DATABASE_URL: a PostgreSQL connection string is wanted.") from error
    return dsn
