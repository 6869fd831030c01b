"""Settings of the collector, read once at the start."""

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field, SecretStr

from receipt_collector.store import database
from receipt_runtime.settings import RuntimeSettings


def _dsn(secret: SecretStr) -> SecretStr:
    database.check_dsn(secret.get_secret_value())
    return secret


class CollectorSettings(RuntimeSettings):
    """What the collector needs beside a broker."""

    database_url: Annotated[SecretStr, AfterValidator(_dsn)] = Field(
        validation_alias=AliasChoices("DATABASE_URL", "HOME_BUDGET_PG_DSN"),
        description="PostgreSQL as a URL or a libpq connection string.",
    )
    prefetch: int = Field(
        default=5,
        ge=1,
        le=10,
        validation_alias="RECEIPTS_PREFETCH",
        description="Result events held at once. Every one of them counts a crash against itself,"
        " so more is faster and buries more with one bad event.",
    )
    prepares_statements: bool = Field(
        default=False,
        validation_alias="RECEIPTS_PREPARED_STATEMENTS",
        description="Keep statements prepared, which takes a third of the work off PostgreSQL."
        " Right for direct connections; a transaction pooler has to know prepared statements"
        " itself, else one client runs another one's.",
    )
