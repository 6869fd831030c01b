"""`dead replay` and `dead purge`: failed messages are sent again, or forgotten, page by page."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from receipt_cli import addresses
from receipt_cli.output import CommandError, ExitCode, emit, say
from receipt_cli.sending import sending
from receipt_collector import replaying
from receipt_collector.store import failures
from receipt_collector.store.database import Database
from receipt_collector.store.failures import Choice, DeadLetter
from receipt_contract.errors import Reason

PAGE = 200


def choose(
    failure_ids: Sequence[UUID] | None,
    *,
    everything: bool,
    reason: str | None,
    older_than: timedelta = timedelta(),
) -> Choice:
    """Say which letters are meant; raises CommandError unless ids or all were asked for."""
    if bool(failure_ids) == everything:
        raise CommandError("Name the failure_ids of letters, or --all.")
    if reason is not None and reason not in set(Reason):
        raise CommandError("No failure has this reason: `ledger dead list` shows those there are.")
    return Choice(
        failure_ids=None if everything else failure_ids,
        reason=Reason(reason) if reason else None,
        older_than=older_than,
    )


def replay(dsn: str, choice: Choice, *, rabbitmq_url: str) -> ExitCode:
    """Send the work of each dead letter again and forget the letter once that is confirmed."""
    database = Database(addresses.database(dsn))
    replayed, kept = 0, 0
    problem: str | None = None
    try:
        for letters in _pages(database, choice):
            sendable = [letter for letter in letters if replaying.work_of(letter) is not None]
            _send(sendable, rabbitmq_url=rabbitmq_url)
            database.run(partial(failures.remove, letters=sendable))
            replayed += len(sendable)
            kept += len(letters) - len(sendable)
    except CommandError as error:
        problem = str(error)
    finally:
        database.close()
    emit({"replayed": replayed, "kept": kept})
    return _code(problem, replayed=replayed, kept=kept)


def purge(dsn: str, choice: Choice) -> ExitCode:
    """Forget dead letters, in steps that hold no lock for long."""
    database = Database(addresses.database(dsn))
    purged = 0
    try:
        while step := database.run(partial(failures.purge, choice=choice, limit=PAGE)):
            purged += step
    finally:
        database.close()
    emit({"purged": purged})
    return ExitCode.DONE if purged else _nothing_chosen()


def _pages(database: Database, choice: Choice) -> Iterator[list[DeadLetter]]:
    after: UUID | None = None
    while letters := database.run(partial(failures.page, choice=choice, after=after, limit=PAGE)):
        yield letters
        after = letters[-1].failure_id


def _send(letters: list[DeadLetter], *, rabbitmq_url: str) -> None:
    """Return when the broker has confirmed all of them; raises CommandError."""
    with sending(rabbitmq_url) as sender:
        for letter in letters:
            wanted = replaying.work_of(letter)
            if wanted is not None:
                sender.send(wanted)
        sender.finish()


def _code(problem: str | None, *, replayed: int, kept: int) -> ExitCode:
    if problem:
        say(problem)
        return ExitCode.FAILED
    if not replayed and not kept:
        return _nothing_chosen()
    if kept:
        say("Some letters do not tell what to send; they are kept: `ledger dead list`.")
        return ExitCode.FAILED
    return ExitCode.DONE


def _nothing_chosen() -> ExitCode:
    say("No dead letter was chosen.")
    return ExitCode.USAGE
