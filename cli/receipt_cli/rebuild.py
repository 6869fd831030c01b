"""`ocr-cache rebuild`: asks for the cache of many receipts again, as one batch of v3 messages."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from receipt_cli.output import CommandError, ExitCode, emit, say
from receipt_cli.sending import Sender, sending
from receipt_contract import cachefiles
from receipt_contract.errors import PermanentError, ReceiptError
from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import CacheRebuildWork
from receipt_operator import backlog, caches, discovery
from receipt_runtime import files


@dataclass(frozen=True)
class Selection:
    """Which receipts below the root; `cache` is set when only those without a cache count."""

    root: Path
    reference: str | None
    prefix: str
    glob: str | None
    cache: Path | None


@dataclass
class Progress:
    """How far the command came."""

    discovered: int = 0
    skipped_existing: int = 0
    unusable: int = 0


def run(selection: Selection, *, rabbitmq_url: str, batch_id: str | None) -> ExitCode:
    """Publish one batch; repeating it with the same id repeats the same messages."""
    chosen_id = batch_id or str(uuid.uuid4())
    progress = Progress()
    selected = list(_select(selection, progress))
    if not selected:
        _report(progress, selected=0, published=0, batch_id=chosen_id, status="nothing_selected")
        say("Nothing was selected.")
        return ExitCode.USAGE
    failure: Exception | None = None
    with sending(rabbitmq_url) as sender:
        try:
            _send(selection, selected, sender, progress, chosen_id)
        except (ReceiptError, CommandError) as error:
            failure = error
    whole = failure is None and not progress.unusable
    _report(
        progress,
        selected=len(selected),
        published=sender.confirmed,
        batch_id=chosen_id,
        status="queued" if whole else "partial",
    )
    if failure is not None:
        say(f"{failure} {sender.confirmed} messages were confirmed.")
        say(f"To go on with the same batch: --request-id {chosen_id}")
    return ExitCode.DONE if whole else ExitCode.FAILED


def _select(selection: Selection, progress: Progress) -> Iterator[str]:
    if selection.cache is not None:
        caches.check_root(selection.cache)
    for reference in _candidates(selection):
        if selection.glob and not discovery.matches_glob(reference, selection.glob):
            continue
        progress.discovered += 1
        if selection.cache is not None and _has_cache(selection, selection.cache, reference):
            progress.skipped_existing += 1
        else:
            yield reference


def _candidates(selection: Selection) -> Iterator[str]:
    if selection.reference is None:
        return discovery.walk(selection.root, prefix=selection.prefix)
    files.resolve(selection.root, selection.reference)
    return iter([selection.reference])


def _has_cache(selection: Selection, cache: Path, reference: str) -> bool:
    """Look for a cache; the earlier layout names it by hash, so the file is read for that only."""
    if caches.holds(cache, cachefiles.current(reference)):
        return True
    try:
        return caches.holds(cache, cachefiles.legacy(files.hash_source(selection.root, reference)))
    except PermanentError:
        return False  # it is selected, and reported when it is sent


def _send(
    selection: Selection, selected: list[str], sender: Sender, progress: Progress, batch_id: str
) -> None:
    for index, reference in enumerate(selected, start=1):
        try:
            sender.send(
                CacheRebuildWork(
                    source_sha256=files.hash_source(selection.root, reference),
                    source_reference=reference,
                    request_id=backlog.batch_item_request_id(batch_id, reference),
                    batch_id=batch_id,
                    batch_index=index,
                    batch_total=len(selected),
                )
            )
        except PermanentError as error:
            progress.unusable += 1
            say(f"{reference}: {error}")
    sender.finish()


def _report(
    progress: Progress, *, selected: int, published: int, batch_id: str, status: str
) -> None:
    emit(
        {
            "discovered": progress.discovered,
            "selected": selected,
            "published": published,
            "request_id": batch_id,
            "queue": WORK_SIDE.work,
            "status": status,
            "skipped_existing": progress.skipped_existing,
        }
    )
