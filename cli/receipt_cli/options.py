"""Flags and arguments that several commands share; each can come from the environment too."""

import uuid
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_ROOT = Path("/data/receipts/raw/scanned/inbox")
DEFAULT_LIMIT = 100
DEFAULT_CACHE = Path("/data/receipts/derived/ocr-cache")

_ROOT_ENV = "RECEIPT_SOURCE_ROOT"
_ROOT_HELP = "Folder that holds the receipts."

_ROOT = typer.Option("--receipt-root", envvar=_ROOT_ENV, help=_ROOT_HELP)
_CACHE = typer.Option("--ocr-cache", envvar="HOME_BUDGET_OCR_CACHE", help="Folder of the cache.")
_DSN = typer.Option(
    "--db-dsn",
    envvar=["DATABASE_URL", "HOME_BUDGET_PG_DSN"],
    show_default=False,
    help="PostgreSQL address. The environment keeps it out of the process list.",
)
_RABBITMQ_URL = typer.Option(
    "--rabbitmq-url",
    envvar="RABBITMQ_URL",
    show_default=False,
    help="Broker, user and vhost. The environment keeps it out of the process list.",
)

RootArgument = Annotated[Path, typer.Argument(envvar=_ROOT_ENV, help=_ROOT_HELP)]
RootOption = Annotated[Path, _ROOT]
RootOrNone = Annotated[Path | None, _ROOT]
Cache = Annotated[Path, _CACHE]
CacheOrNone = Annotated[Path | None, _CACHE]
Dsn = Annotated[str, _DSN]
DsnOrNone = Annotated[str | None, _DSN]
RabbitmqUrl = Annotated[str, _RABBITMQ_URL]
RabbitmqUrlOrNone = Annotated[str | None, _RABBITMQ_URL]
RequestId = Annotated[
    uuid.UUID | None,
    typer.Option(
        "--request-id",
        show_default=False,
        help="Repeat an earlier request instead of making a new one.",
    ),
]
Limit = Annotated[int, typer.Option(min=1, help="At most so many, the newest first.")]
Reference = Annotated[
    str, typer.Argument(metavar="REF", help="Path of the receipt below the receipts root.")
]


def text(request_id: uuid.UUID | None) -> str | None:
    """Return an id as it travels in messages."""
    return str(request_id) if request_id else None
