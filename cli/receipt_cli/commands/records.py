"""`ledger requests`: list, show, watch, republish."""

import uuid
from enum import StrEnum
from typing import Annotated

import typer

from receipt_cli import options

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at what objects asked for."
)

RequestArgument = Annotated[uuid.UUID, typer.Argument(metavar="ID", help="Its request id.")]


class ItemState(StrEnum):
    """Where a receipt of a request stands."""

    PLANNED = "planned"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@app.command("list")
def list_requests(db_dsn: options.Dsn, limit: options.Limit = options.DEFAULT_LIMIT) -> None:
    """Print requests with their counts.

    \b
    Examples:
      ledger requests list --limit 20 | jq -c 'select(.state != "finished")'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.requests(db_dsn, limit=limit))


@app.command("show")
def show_request(
    request_id: RequestArgument,
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


@app.command()
def watch(
    request_id: RequestArgument,
    db_dsn: options.Dsn,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 2.0,
) -> None:
    """Follow a request until it has finished.

    Prints its line, as list does, whenever a count or its state has changed.

    Exit codes: 0 it finished and none of its receipts failed; 1 it finished otherwise, or no
    request has this id.

    \b
    Examples:
      ledger requests watch 16707bbf-dcbf-59a4-87d1-3e347caadbf6 | jq -r '[.done, .total] | @tsv'
    """
    from receipt_cli import watching as flow

    raise typer.Exit(flow.run(db_dsn, str(request_id), every=every))


@app.command()
def republish(
    request_id: RequestArgument, db_dsn: options.Dsn, rabbitmq_url: options.RabbitmqUrl
) -> None:
    """Send again what a request has sent and no result has come back for.

    The operator does so by itself once there is evidence that a message was lost; this is for when
    you know it already, as after a broker came back empty. Messages keep their ids, so one that
    was not lost has no second effect. Prints one JSON line: published counts confirmed messages.

    Exit codes: 0 all was sent, or nothing is waited for; 1 not all was sent, the request has
    finished, or no request has this id.

    \b
    Examples:
      ledger requests republish 16707bbf-dcbf-59a4-87d1-3e347caadbf6
    """
    from receipt_cli import republish as flow

    raise typer.Exit(flow.run(db_dsn, str(request_id), rabbitmq_url=rabbitmq_url))
