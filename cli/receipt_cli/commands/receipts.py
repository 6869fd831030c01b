"""`ledger receipts`: publish, consume, collect, reprocess, extract, show, export."""

from typing import Annotated

import typer

from receipt_cli import options

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Find, read and look at receipts."
)


@app.command()
def publish(
    rabbitmq_url: options.RabbitmqUrl,
    db_dsn: options.Dsn,
    root: options.RootArgument = options.DEFAULT_ROOT,
    ocr_cache: options.Cache = options.DEFAULT_CACHE,
    min_age: Annotated[
        float,
        typer.Option(min=0, help="Seconds a file must lie untouched: it may still be written."),
    ] = 10.0,
) -> None:
    """Send every receipt that was not read yet to the workers (v1 messages).

    New receipts and those tried fewer than three times are sent; a receipt that was read but lost
    its cache file is sent for a repair (v2). Each content is sent once. Prints one JSON line with
    the counts discovered, skipped, exhausted, cache_missing and published; published counts
    confirmed messages only.

    Exit codes: 0 all was sent; 1 something failed, and the line counts what was sent before.

    \b
    Examples:
      ledger receipts publish /data/receipts
      RABBITMQ_URL=… DATABASE_URL=… ledger receipts publish
    """
    from receipt_cli import publish as flow

    places = flow.Places(
        root=root, cache=ocr_cache, dsn=db_dsn, rabbitmq_url=rabbitmq_url, min_age_seconds=min_age
    )
    raise typer.Exit(flow.run(places))


@app.command()
def reprocess(
    reference: options.Reference,
    rabbitmq_url: options.RabbitmqUrl,
    receipt_root: options.RootOption = options.DEFAULT_ROOT,
    request_id: options.RequestId = None,
) -> None:
    """Have one receipt read again; its saved extraction is replaced (v2 message).

    Exit codes: 0 sent; 1 not sent, or not surely: the sentence names the request id to repeat.

    \b
    Examples:
      ledger receipts reprocess 2024-03/lakeside-grocery.png
      ledger receipts reprocess 2024-03/a.pdf --request-id 9f0c4a52-3a0e-4a0e-9b1c-2f6f0f7d6c11
    """
    from receipt_cli import reprocess as flow

    raise typer.Exit(
        flow.run(
            receipt_root,
            reference,
            rabbitmq_url=rabbitmq_url,
            request_id=options.text(request_id),
        )
    )


@app.command()
def show(reference: options.Reference, db_dsn: options.Dsn) -> None:
    """Print what is saved for one receipt.

    One JSON line for each content the file ever had, the newest first. Exit codes: 0 found; 1
    nothing is saved.

    \b
    Examples:
      ledger receipts show 2024-03/lakeside-grocery.png
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.one(db_dsn, reference))


@app.command()
def export(
    db_dsn: options.Dsn,
    prefix: Annotated[
        str, typer.Option(help="Only references that start with this text.", show_default=False)
    ] = "",
) -> None:
    """Print everything that is saved, as JSON lines in the order of the references.

    \b
    Examples:
      ledger receipts export > receipts.jsonl
      ledger receipts export --prefix 2024-03/ | jq -r '[.merchant_name, .total] | @tsv'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.every(db_dsn, prefix))
