"""`doctor`: looks at everything a process of ours needs and says what to do about it.

Changes nothing. A part whose address is not given is passed over.
"""

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from receipt_cli import addresses
from receipt_cli.output import CommandError, ExitCode, emit, emit_text
from receipt_collector import schema
from receipt_collector.schema import SchemaError
from receipt_collector.store import database
from receipt_contract.errors import AttemptError, ReceiptError
from receipt_operator import caches
from receipt_runtime import files
from receipt_runtime.amqp import preflight
from receipt_runtime.settings import read
from receipt_worker.settings import ReadingSettings

OLDEST_BROKER = (3, 10)
OLDEST_DATABASE = 14
LATEST_START_MINUTES = 15  # no reading starts later than this after its delivery
SPARE_MINUTES = 3


class State(StrEnum):
    """What a look came to."""

    OK = "ok"
    PROBLEM = "problem"
    UNSEEN = "unseen"  # cannot be looked at from here
    SKIPPED = "skipped"  # its address was not given, or nothing here needs it


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's answer."""

    check: str
    state: State
    detail: str
    advice: str = ""


@dataclass(frozen=True)
class Patient:
    """Where the parts are; None passes a part over."""

    rabbitmq_url: str | None
    dsn: str | None
    root: Path | None
    cache: Path | None


def run(patient: Patient, write: Callable[[Finding], None]) -> ExitCode:
    """Look at every part, also after a problem."""
    findings = []
    for finding in examine(patient):
        write(finding)
        findings.append(finding)
    problems = sum(finding.state is State.PROBLEM for finding in findings)
    return ExitCode.FAILED if problems else ExitCode.DONE


def write_text(finding: Finding) -> None:
    """Write for people."""
    emit_text(f"{finding.state:<8} {finding.check}: {finding.detail}")
    if finding.advice:
        emit_text(f"{'':<8} {finding.advice}")


def write_json(finding: Finding) -> None:
    """Write for programs."""
    emit(asdict(finding))


def examine(patient: Patient) -> Iterator[Finding]:
    """Yield findings part by part; raises SettingsError."""
    settings = read(ReadingSettings)
    yield from (
        _broker(patient.rabbitmq_url, settings) if patient.rabbitmq_url else _skipped("broker")
    )
    yield from _database(patient.dsn) if patient.dsn else _skipped("database")
    yield from (
        _tesseract(settings)
        if importlib.util.find_spec("pytesseract")
        else _skipped("tesseract", "this installation reads no receipts")
    )
    yield from _root(patient.root) if patient.root else _skipped("receipts root")
    yield from _cache(patient.cache) if patient.cache else _skipped("cache root")


def _skipped(check: str, because: str = "no address was given") -> Iterator[Finding]:
    yield Finding(check, State.SKIPPED, f"Not looked at: {because}.")


def _broker(url: str, settings: ReadingSettings) -> Iterator[Finding]:
    try:
        report = preflight.look(addresses.broker(url))
    except (ReceiptError, CommandError) as error:
        advice = "Check RABBITMQ_URL and whether the broker runs."
        yield Finding("broker", State.PROBLEM, str(error), advice)
        return
    yield _versioned(
        "broker",
        f"{report.product} {report.version}",
        recent=_numbers(report.version) >= OLDEST_BROKER,
        oldest="RabbitMQ 3.10",
    )
    for problem in report.problems:
        yield Finding("topology", State.PROBLEM, problem)
    if not report.problems:
        yield Finding("topology", State.OK, "Every queue is there with our arguments.")
    yield _consumer_timeout(settings.deadline)


def _consumer_timeout(deadline_seconds: float) -> Finding:
    minutes = LATEST_START_MINUTES + deadline_seconds / 60 + SPARE_MINUTES
    return Finding(
        "consumer timeout",
        State.UNSEEN,
        "A broker does not tell it to its clients.",
        f"`rabbitmqctl environment` shows consumer_timeout; it has to be at least"
        f" {minutes * 60_000:.0f} (milliseconds).",
    )


def _database(dsn: str) -> Iterator[Finding]:
    try:
        with database.translated(), database.connect(addresses.database(dsn)) as connection:
            version = connection.info.server_version // 10_000
            yield _versioned(
                "database",
                f"PostgreSQL {version}",
                recent=version >= OLDEST_DATABASE,
                oldest=f"PostgreSQL {OLDEST_DATABASE}",
            )
            schema.check(connection)
    except (ReceiptError, CommandError) as error:
        advice = "Check DATABASE_URL, its user and password too, and whether the server runs."
        yield Finding("database", State.PROBLEM, str(error), advice)
    except SchemaError as error:
        yield Finding("schema", State.PROBLEM, f"{error}.")
    else:
        yield Finding("schema", State.OK, "All parts have this program's version.")


def _tesseract(settings: ReadingSettings) -> Iterator[Finding]:
    from receipt_worker.engines import tesseract  # noqa: PLC0415 - where receipts are read only

    try:
        version = tesseract.version()
        installed = tesseract.installed_languages()
    except AttemptError:
        advice = "Install it: apt install tesseract-ocr"
        yield Finding("tesseract", State.PROBLEM, "The program does not run.", advice)
        return
    missing = [one for one in settings.languages.split("+") if one not in installed]
    if missing:
        packages = " ".join(f"tesseract-ocr-{one}" for one in missing)
        detail = f"Version {version} lacks the languages {', '.join(missing)}."
        yield Finding("tesseract", State.PROBLEM, detail, f"Install them: apt install {packages}")
        return
    yield Finding("tesseract", State.OK, f"Version {version} with {settings.languages}.")


def _root(root: Path) -> Iterator[Finding]:
    try:
        files.check_root(root)
    except ReceiptError as error:
        yield Finding("receipts root", State.PROBLEM, str(error), "Check that it is mounted.")
    else:
        yield Finding("receipts root", State.OK, "Readable, and not empty.")


def _cache(root: Path) -> Iterator[Finding]:
    try:
        caches.check_root(root)
    except ReceiptError:
        detail = "It carries no mark of a worker."
        advice = "Check that it is mounted; a worker marks it when it starts."
        yield Finding("cache root", State.PROBLEM, detail, advice)
    else:
        yield Finding("cache root", State.OK, "A worker has marked it.")


def _versioned(check: str, found: str, *, recent: bool, oldest: str) -> Finding:
    if recent:
        return Finding(check, State.OK, f"{found} answers.")
    return Finding(check, State.PROBLEM, f"{found} is too old.", f"Wanted: {oldest} or later.")


def _numbers(version: str) -> tuple[int, ...]:
    """Read "3.10.8" as (3, 10, 8); whatever is no number ends it."""
    numbers = itertools.takewhile(str.isdigit, version.split("."))
    return tuple(int(number) for number in numbers)
