"""`ledger receipts`: publish, consume, collect, reprocess, extract, show, export."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from receipt_cli import options

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Find, read and look at receipts."
)


class Format(StrEnum):
    """How extractions are written."""

    TABLE = "table"
    JSONL = "jsonl"


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
    """Send receipts that were not read yet (v1 messages).

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
    """Have one receipt read again (v2 message).

    Its saved extraction is replaced.

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
def consume(
    rabbitmq_url: options.RabbitmqUrl,
    root: options.RootArgument = options.DEFAULT_ROOT,
    ocr_cache: options.Cache = options.DEFAULT_CACHE,
) -> None:
    """Run a worker: read what the queue asks for, until a signal.

    A signal lets it finish the receipt in hand. RECEIPT_OCR_LANGUAGES, HEALTH_PORT and the other
    settings of receipt-worker apply.

    Exit codes: 0 ended by a signal; 1 settings, Tesseract or the cache cannot be used.

    \b
    Examples:
      ledger receipts consume /data/receipts --ocr-cache /data/ocr-cache
    """
    from receipt_cli import processes as flow

    raise typer.Exit(flow.consume(root=root, cache=ocr_cache, rabbitmq_url=rabbitmq_url))


@app.command()
def collect(rabbitmq_url: options.RabbitmqUrl, db_dsn: options.Dsn) -> None:
    """Run a collector: save what workers found, until a signal.

    HEALTH_PORT and the other settings of receipt-collector apply.

    Exit codes: 0 ended by a signal; 1 settings or the schema cannot be used.

    \b
    Examples:
      RABBITMQ_URL=… DATABASE_URL=… ledger receipts collect
    """
    from receipt_cli import processes as flow

    raise typer.Exit(flow.collect(dsn=db_dsn, rabbitmq_url=rabbitmq_url))


@app.command()
def extract(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, or folders of receipts.")
    ],
    output: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="table for people, jsonl for programs; unless said, a terminal gets a table.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print instead where each value was read and what proves it."
        ),
    ] = False,
    image: Annotated[
        Path | None,
        typer.Option(
            "--image",
            metavar="OUT",
            dir_okay=False,
            help="With --explain, for one file: write a PNG of its pages with all that was read.",
        ),
    ] = None,
) -> None:
    """Read files here and now, without broker and database.

    Prints for each file merchant, date, total, currency, card digits, items and whether the result
    is proven (complete), wants a person (review), is unreadable, or failed with a reason code. In
    jsonl, amounts are decimal strings and fields holds the evidence.

    Exit codes: 0 every file got an answer; 1 not one file could be read.

    \b
    Examples:
      ledger receipts extract photo.jpg
      ledger receipts extract examples/receipts --format jsonl | jq -r '[.file, .total] | @tsv'
      ledger receipts extract photo.jpg --explain --image seen.png
    """
    from receipt_cli import explain as explaining
    from receipt_cli import extract as flow

    if explain or image is not None:
        raise typer.Exit(explaining.run(paths, image=image))
    as_table = sys.stdout.isatty() if output is None else output is Format.TABLE
    raise typer.Exit(flow.run(paths, as_table=as_table))


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

    raise typer.Exit(flow.receipt(db_dsn, reference))


@app.command()
def export(
    db_dsn: options.Dsn,
    prefix: Annotated[
        str, typer.Option(help="Only references that start with this text.", show_default=False)
    ] = "",
) -> None:
    """Print everything that is saved.

    JSON lines, in the order of the references.

    \b
    Examples:
      ledger receipts export > receipts.jsonl
      ledger receipts export --prefix 2024-03/ | jq -r '[.merchant_name, .total] | @tsv'
    """
    from receipt_cli import show as flow

    raise typer.Exit(flow.receipts(db_dsn, prefix))
