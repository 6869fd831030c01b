"""`ledger topology declare`, `ledger doctor` and `ledger prune`."""

from enum import StrEnum
from typing import Annotated

import typer

from receipt_cli import options

topology_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look after the broker's queues."
)


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"  # for people
    JSONL = "jsonl"  # for programs


@topology_app.callback()
def _group() -> None:
    """Keep `declare` a command of its own although it is the only one."""


@topology_app.command()
def declare(rabbitmq_url: options.RabbitmqUrl) -> None:
    """Make exchanges, queues and bindings that are missing.

    What is there stays. A queue with other arguments than ours is named with both values and left
    alone. Needs a user who may configure; run it at install, at upgrade and from a CronJob, so
    that a broker that came back empty has its queues again.

    Exit codes: 0 all of it is there; 1 it is not.

    \b
    Examples:
      RABBITMQ_URL=amqp://topology@broker/receipts ledger topology declare
    """
    from receipt_cli import topology as flow

    raise typer.Exit(flow.declare(rabbitmq_url))


def prune(db_dsn: options.Dsn, ocr_cache: options.CacheOrNone = None) -> None:
    """Remove what is kept for a time only.

    Receipts of requests that finished 90 days ago, and ids of results settled 90 days ago, leave
    the database; requests stay, so that none ever runs twice. With a cache folder also, each after
    30 days: artifacts that no run names, markers, and locks nobody holds. A receipt's current cache
    file, its saved extraction and failed messages stay. Safe to run at any time and twice at once;
    for a CronJob, once a day.

    Prints one JSON line with how many items, inbox, artifacts, markers and locks were removed.

    Exit codes: 0 done; 1 the database or the cache is not there.

    \b
    Examples:
      ledger prune --ocr-cache /data/ocr-cache
    """
    from receipt_cli import prune as flow

    raise typer.Exit(flow.run(db_dsn, ocr_cache))


def doctor(
    rabbitmq_url: options.RabbitmqUrlOrNone = None,
    db_dsn: options.DsnOrNone = None,
    receipt_root: options.RootOrNone = None,
    ocr_cache: options.CacheOrNone = None,
    output: Annotated[
        Format, typer.Option("--format", help="text for people, jsonl for programs.")
    ] = Format.TEXT,
) -> None:
    """Look at broker, queues, database, Tesseract and volumes.

    Says for each what is wrong and what to do. Parts whose address is not given are passed over.
    Changes nothing.

    Exit codes: 0 no problem was found; 1 there is one.

    \b
    Examples:
      ledger doctor
      ledger doctor --receipt-root /data/receipts --format jsonl | jq 'select(.state != "ok")'
    """
    from receipt_cli import doctor as flow

    patient = flow.Patient(rabbitmq_url, db_dsn, receipt_root, ocr_cache)
    write = flow.write_json if output is Format.JSONL else flow.write_text
    raise typer.Exit(flow.run(patient, write))
