"""`ledger dead`: list, show, replay, purge."""

import uuid
from datetime import timedelta
from typing import Annotated

import typer

from receipt_cli import options

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look after messages that failed for good."
)

Ids = Annotated[
    list[uuid.UUID] | None,
    typer.Argument(metavar="ID", help="Their failure_id.", show_default=False),
]
Everything = Annotated[bool, typer.Option("--all", help="All of them instead of some ids.")]
ReasonCode = Annotated[
    str | None,
    typer.Option("--reason", help="Only those with this reason code.", show_default=False),
]


@app.command("list")
def list_dead(db_dsn: options.Dsn, limit: options.Limit = options.DEFAULT_LIMIT) -> None:
    """Print what failed for good, with its reason.

    \b
    Examples:
      ledger dead list | jq -r '[.source_reference, .reason] | @tsv'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.dead(db_dsn, limit=limit))


@app.command("show")
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


@app.command()
def replay(
    db_dsn: options.Dsn,
    rabbitmq_url: options.RabbitmqUrl,
    failure_ids: Ids = None,
    everything: Everything = False,
    reason: ReasonCode = None,
) -> None:
    """Send failed messages again, with all their attempts given back.

    Work is sent as it was. For a result that could not be saved the worker is asked to tell it
    again, which it does from its cache. A letter is forgotten once the broker has confirmed the
    message; should that fail too, there is a new one. Letters that do not tell what to send are
    kept. A finished request stays as it ended: ask for its failures with a new runId.

    Prints one JSON line: replayed and kept.

    Exit codes: 0 all were sent; 1 not all; 2 none was chosen.

    \b
    Examples:
      ledger dead replay 6b0f1c9e-3d1a-5e0e-8d6f-0a6a5f0c2b11
      ledger dead replay --all --reason engine_failed
    """
    from receipt_cli import dead as flow

    choice = flow.choose(failure_ids, everything=everything, reason=reason)
    raise typer.Exit(flow.replay(db_dsn, choice, rabbitmq_url=rabbitmq_url))


@app.command()
def purge(
    db_dsn: options.Dsn,
    failure_ids: Ids = None,
    everything: Everything = False,
    reason: ReasonCode = None,
    older_than_days: Annotated[
        int, typer.Option(min=0, help="Only those that failed longer ago.")
    ] = 0,
) -> None:
    """Forget failed messages for good.

    The broker's dead queues are bounded and drop their oldest messages by themselves; this is
    about the rows. Prints one JSON line: purged.

    Exit codes: 0 done; 2 none was chosen.

    \b
    Examples:
      ledger dead purge 6b0f1c9e-3d1a-5e0e-8d6f-0a6a5f0c2b11
      ledger dead purge --all --older-than-days 90
    """
    from receipt_cli import dead as flow

    choice = flow.choose(
        failure_ids,
        everything=everything,
        reason=reason,
        older_than=timedelta(days=older_than_days),
    )
    raise typer.Exit(flow.purge(db_dsn, choice))
