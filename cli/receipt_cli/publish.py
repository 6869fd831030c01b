"""`receipts publish`: finds receipts, asks the database how they stand, sends what is wanted."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from receipt_cli import addresses
from receipt_cli.output import CommandError, ExitCode, emit, say
from receipt_cli.sending import Sender, Work, sending
from receipt_contract.errors import PermanentError, ReceiptError
from receipt_contract.work import ProcessWork, ReprocessWork
from receipt_operator import backlog, caches, discovery
from receipt_operator.backlog import Decision, Standing
from receipt_operator.register.backlog import standings
from receipt_operator.register.reading import Reader, reader
from receipt_runtime import files

BATCH = 200  # receipts a query


@dataclass(frozen=True)
class Places:
    """Where to look and whom to tell."""

    root: Path
    cache: Path
    dsn: str
    rabbitmq_url: str
    min_age_seconds: float


class Found(NamedTuple):
    """A receipt whose bytes were read."""

    reference: str
    sha256: str


@dataclass
class Tally:
    """What came of the receipts; sent ones are counted by the sender when confirmed."""

    discovered: int = 0
    duplicates: int = 0
    unfinished: int = 0
    unusable: Counter[str] = field(default_factory=Counter)
    decisions: Counter[Decision] = field(default_factory=Counter)

    def report(self, *, published: int) -> dict[str, int]:
        """Return the command's one line."""
        passed_over = self.duplicates + self.unfinished + self.unusable.total()
        return {
            "discovered": self.discovered,
            "skipped": passed_over + self.decisions[Decision.SKIP],
            "exhausted": self.decisions[Decision.EXHAUSTED],
            "cache_missing": self.decisions[Decision.REPAIR_CACHE],
            "published": published,
        }


def run(places: Places) -> ExitCode:
    """Publish once; the line it prints counts confirmed messages also when it fails in between."""
    tally = Tally()
    failure: Exception | None = None
    with sending(places.rabbitmq_url) as sender:
        try:
            _publish(places, tally, sender)
        except (ReceiptError, CommandError) as error:
            failure = error
    emit(tally.report(published=sender.confirmed))
    _explain(tally)
    if failure is None:
        return ExitCode.DONE
    say(str(failure))
    return ExitCode.FAILED


def _publish(places: Places, tally: Tally, sender: Sender) -> None:
    with reader(addresses.database(places.dsn)) as connection:
        found = _found(places, tally)
        while batch := list(islice(found, BATCH)):
            for one in _decide(places, tally, connection, batch):
                try:
                    sender.send(one)
                except PermanentError as error:  # a name too long for a message
                    tally.unusable[error.reason.sentence] += 1
        sender.finish()


def _found(places: Places, tally: Tally) -> Iterator[Found]:
    """Walk and hash; each content once."""
    seen: set[bytes] = set()
    for reference in discovery.walk(places.root):
        tally.discovered += 1
        try:
            path = files.resolve(places.root, reference)
            if not discovery.stable(_stat(path), now=time.time(), min_age=places.min_age_seconds):
                tally.unfinished += 1
                continue
            sha256 = files.hash_source(places.root, reference)
        except PermanentError as error:
            tally.unusable[error.reason.sentence] += 1
            continue
        if bytes.fromhex(sha256) in seen:
            tally.duplicates += 1
            continue
        seen.add(bytes.fromhex(sha256))
        yield Found(reference, sha256)


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:  # it may have gone since its name was read
        raise files.translate(error) from error


def _decide(
    places: Places, tally: Tally, connection: Reader, batch: Iterable[Found]
) -> Iterator[Work]:
    known = standings(connection, [found.sha256 for found in batch])
    for found in batch:
        standing = known.get(found.sha256)
        decision = backlog.decide(standing, cached=_is_cached(places, found, standing))
        tally.decisions[decision] += 1
        if decision is Decision.PROCESS:
            yield ProcessWork(source_sha256=found.sha256, source_reference=found.reference)
        elif decision is Decision.REPAIR_CACHE and standing is not None:
            yield ReprocessWork(
                source_sha256=found.sha256,
                source_reference=found.reference,
                request_id=backlog.repair_request_id(
                    found.reference, sha256=found.sha256, completed_at=standing.completed_at
                ),
            )


def _is_cached(places: Places, found: Found, standing: Standing | None) -> bool:
    """Ask the cache only about receipts that were read: before that it may not exist at all."""
    if standing is None or standing.status not in backlog.COMPLETED:
        return False
    caches.check_root(places.cache)
    return caches.is_cached(places.cache, found.reference, sha256=found.sha256)


def _explain(tally: Tally) -> None:
    if tally.unfinished:
        say(f"{tally.unfinished} passed over because they may still be written.")
    for sentence, count in tally.unusable.items():
        say(f"{count} passed over: {sentence}")
