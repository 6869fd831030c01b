"""`ledger requests` and `ledger dead`: what was asked for, and what failed."""

import uuid
from enum import StrEnum
from typing import Annotated

import typer

from receipt_cli import options

requests_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at what objects asked for."
)
dead_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at messages that failed for good."
)

Limit = Annotated[int, typer.Option(min=1, help="At most so many, the newest first.")]
DEFAULT_LIMIT = 100


class ItemState(StrEnum):
    """Where a receipt of a request stands."""

    PLANNED = "planned"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@requests_app.command("list")
def list_requests(db_dsn: options.Dsn, limit: Limit = DEFAULT_LIMIT) -> None:
    """Print requests with their counts.

    \b
    Examples:
      ledger requests list --limit 20 | jq -c 'select(.state != "finished")'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.requests(db_dsn, limit=limit))


@requests_app.command("show")
def show_request(
    request_id: Annotated[uuid.UUID, typer.Argument(metavar="ID", help="Its request id.")],
    db_dsn: options.Dsn,
    state: Annotated[
        ItemState | None, typer.Option(help="Only receipts in this state.", show_default=False)
    ] = None,
) -> None:
    """Print one request, then each of its receipts.

    The request id stands in the object's status under run.requestId. Exit codes: 0 found; 1 no
    request has this id.

    \b
    Examples:
      ledger requests show 16707bbf-dcbf-59a4-87d1-3e347caadbf6 --state failed
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.request(db_dsn, str(request_id), state=state))


@dead_app.command("list")
def list_dead(db_dsn: options.Dsn, limit: Limit = DEFAULT_LIMIT) -> None:
    """Print what failed for good, with its reason.

    \b
    Examples:
      ledger dead list | jq -r '[.source_reference, .reason] | @tsv'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.dead(db_dsn, limit=limit))


@dead_app.command("show")
def show_dead(
    failure_id: Annotated[uuid.UUID, typer.Argument(metavar="ID", help="Its failure_id.")],
    db_dsn: options.Dsn,
) -> None:
    """Print one failed message whole.

    Exit codes: 0 found; 1 nothing has this id.

    \b
    Examples:
      ledger dead show 6b0f1c9e-3d1a-5e0e-8d6f-0a6a5f0c2b11
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.dead_letter(db_dsn, str(failure_id)))
