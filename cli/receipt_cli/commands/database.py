"""`ledger database`: setup."""

import typer

from receipt_cli import options

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after the database.")


@app.callback()
def _group() -> None:
    """Keep `setup` a command of its own although it is the only one."""


@app.command()
def setup(db_dsn: options.Dsn) -> None:
    """Create or upgrade the schemas budget, ingest and work.

    Prints for each what was done: created, upgraded or already_current. Two at once are safe, and
    one that is cut off has changed nothing. Needs a user who owns the schemas or may create them.

    Exit codes: 0 all parts are current; 1 they are not.

    \b
    Examples:
      DATABASE_URL=postgresql://owner@db/receipts ledger database setup
    """
    from receipt_cli import database as flow

    raise typer.Exit(flow.setup(db_dsn))
