"""`ledger ocr-cache`: rebuild."""

from typing import Annotated

import typer

from receipt_cli import options

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after the OCR cache.")


@app.callback()
def _group() -> None:
    """Keep `rebuild` a command of its own although it is the only one."""


@app.command()
def rebuild(
    rabbitmq_url: options.RabbitmqUrl,
    root: options.RootArgument = options.DEFAULT_ROOT,
    ocr_cache: options.Cache = options.DEFAULT_CACHE,
    request_id: options.RequestId = None,
    receipt: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Only this receipt.", show_default=False),
    ] = None,
    prefix: Annotated[
        str, typer.Option(help="Only references that start with this text.", show_default=False)
    ] = "",
    glob: Annotated[
        str | None,
        typer.Option(
            help="Only references that match, such as '2024-*/**/*.pdf'.", show_default=False
        ),
    ] = None,
    missing_only: Annotated[
        bool, typer.Option("--missing-only", help="Only receipts without a cache file.")
    ] = False,
) -> None:
    """Have caches made anew (v3 messages).

    The receipts are read again, their saved extractions stay.

    Prints one JSON line: discovered, selected, skipped_existing, published (confirmed), queue,
    status and the request_id under which the same batch can be sent again.

    Exit codes: 0 all was sent; 1 a part was sent, and the sentence names the request id to go on
    with; 2 nothing was selected.

    \b
    Examples:
      ledger ocr-cache rebuild /data/receipts --missing-only
      ledger ocr-cache rebuild --prefix 2024-03/
      ledger ocr-cache rebuild --receipt 2024-03/lakeside-grocery.png
    """
    from receipt_cli import rebuild as flow

    selection = flow.Selection(
        root=root,
        reference=receipt,
        prefix=prefix,
        glob=glob,
        cache=ocr_cache if missing_only else None,
    )
    code = flow.run(selection, rabbitmq_url=rabbitmq_url, batch_id=options.text(request_id))
    raise typer.Exit(code)
