"""The whole command line. Imports no component: `ledger --help` answers at once."""

import typer

from receipt_cli.commands import caches, care, database, dead, receipts, records

app = typer.Typer(
    name="ledger",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help joins lines into paragraphs, and is quick
    pretty_exceptions_enable=False,  # they print values of variables
    help="""Receipts: find them, have them read, look at what was read.

Commands print JSON on standard output and speak to people on standard error; extract on a terminal
and doctor print text, see their --format. Exit codes are 0 for done, 1 for not or not wholly done,
2 for a command that was not understood or that selected nothing. Addresses of broker and database
come from RABBITMQ_URL and DATABASE_URL.""",
)
app.add_typer(receipts.app, name="receipts")
app.add_typer(caches.app, name="ocr-cache")
app.add_typer(records.app, name="requests")
app.add_typer(dead.app, name="dead")
app.add_typer(database.app, name="database")
app.add_typer(care.topology_app, name="topology")
app.command()(care.doctor)
app.command()(care.prune)


@app.callback()
def prepare() -> None:
    """Keep lines that our libraries log off standard output."""
    from receipt_runtime import logs  # noqa: PLC0415 - `--help` does not need it

    logs.configure("ledger", level="ERROR")
