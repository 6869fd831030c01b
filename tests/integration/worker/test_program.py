"""The worker as a program: what it does with a broker's deliveries, and how it ends."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from receipt_contract import results
from receipt_contract.errors import Reason
from receipt_contract.results import RunEvent
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE, WORK_SIDE
from receipt_runtime.amqp import envelopes, preflight
from tests.integration.worker.volume import Volume, v1, v2
from tests.support.amqp import Visitor, eventually, visiting

pytestmark = pytest.mark.services

END_SECONDS = 30.0


class Program:
    """The worker program, started as often as a test wants; all of them end with it."""

    def __init__(self, url: str, volume: Volume, folder: Path) -> None:
        self._environment = {
            "PATH": os.environ["PATH"],
            "RABBITMQ_URL": url,
            "HEALTH_PORT": "0",
            "RECEIPT_SOURCE_ROOT": str(volume.receipts),
            "HOME_BUDGET_OCR_CACHE": str(volume.cache),
            "RECEIPT_OCR_WORK_FOLDER": str(folder / "work"),
        }
        self._folder = folder
        self._numbers = itertools.count(1)
        self._started: list[subprocess.Popen[bytes]] = []
        self.log = folder / "worker.log"

    def start(self, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a worker."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "receipt_worker"],
                env={**self._environment, **settings},
                stderr=log,
            )
        self._started.append(process)
        return process

    def close(self) -> None:
        """End every worker that still runs."""
        for process in self._started:
            process.kill()
            process.wait()


@pytest.fixture
def program(url: str, volume: Volume, tmp_path: Path) -> Iterator[Program]:
    """Give the program, not started yet."""
    preflight.declare_topology(url)
    program = Program(url, volume, tmp_path)
    yield program
    program.close()


@pytest.fixture
def visitor(url: str, program: Program) -> Iterator[Visitor]:  # noqa: ARG001 - declared first
    """Give a look at the queues from outside."""
    with visiting(url) as visitor:
        yield visitor


def runs(visitor: Visitor) -> Callable[[], list[RunEvent]]:
    """Return a function that gives the run events seen so far."""
    seen: list[RunEvent] = []

    def look() -> list[RunEvent]:
        events = [results.decode(taken.body) for taken in visitor.take_all(RESULTS_SIDE.work)]
        seen.extend(event for event in events if isinstance(event, RunEvent))
        return seen

    return look


def test_a_worker_answers_what_waits_and_ends_cleanly_when_asked(
    program: Program, visitor: Visitor, volume: Volume
) -> None:
    references = [f"2024/{number}.png" for number in range(3)]
    for number, reference in enumerate(references):
        visitor.put(envelopes.of_work(v1(volume.put_receipt(number, reference), reference)))
    process = program.start()
    look = runs(visitor)
    eventually(lambda: len(look()) == len(references))

    process.terminate()

    assert process.wait(END_SECONDS) == 0
    assert sorted(run.source_reference for run in look()) == references
    assert visitor.ready(WORK_SIDE.work) == 0


def test_g1_a_receipt_whose_worker_is_killed_is_answered_by_the_next(
    program: Program, visitor: Visitor, volume: Volume
) -> None:
    visitor.put(envelopes.of_work(v2(volume.put_receipt())))
    first = program.start()
    locks = volume.cache / ".rebuild-locks"
    eventually(lambda: locks.exists() and list(locks.iterdir()))
    first.kill()
    first.wait()

    program.start()

    look = runs(visitor)
    eventually(look)
    assert len({run.message_id for run in look()}) == 1


def test_g6_a_bad_file_goes_to_the_failures_queue_with_its_reason_and_blocks_nothing(
    program: Program, visitor: Visitor, volume: Volume
) -> None:
    visitor.put(envelopes.of_work(v1(volume.put(b"%PDF-1.7\n", "bad.pdf"), "bad.pdf")))
    visitor.put(envelopes.of_work(v1(volume.put_receipt())))
    program.start()

    look = runs(visitor)
    eventually(lambda: look() and visitor.ready(WORK_SIDE.failures))
    failure = visitor.take(WORK_SIDE.failures)
    assert failure is not None
    assert failure.headers[REASON_HEADER] == Reason.CORRUPT.value


def test_g8_the_log_names_no_address_and_nothing_of_a_receipt(
    program: Program, visitor: Visitor, volume: Volume, url: str
) -> None:
    visitor.put(envelopes.of_work(v1(volume.put(b"%PDF-1.7\n", "bad.pdf"), "bad.pdf")))
    visitor.put(envelopes.of_work(v1(volume.put_receipt())))
    process = program.start(LOG_LEVEL="DEBUG")
    look = runs(visitor)
    eventually(lambda: look() and visitor.ready(WORK_SIDE.failures))
    process.send_signal(signal.SIGINT)
    process.wait(END_SECONDS)

    log = program.log.read_text(encoding="utf-8")
    assert "receipt answered" in log
    assert url not in log
    assert "CORNER" not in log


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"RABBITMQ_URL": "http://some-secret"}, "RABBITMQ_URL", id="a wrong address"),
        pytest.param({"RECEIPT_OCR_LANGUAGES": "xyz"}, "RECEIPT_OCR_LANGUAGES", id="no such model"),
        pytest.param({"PATH": "/nowhere"}, "Tesseract", id="no engine"),
        pytest.param({"RECEIPT_OCR_DEADLINE": "-1"}, "RECEIPT_OCR_DEADLINE", id="no time at all"),
        pytest.param({"HOME_BUDGET_OCR_CACHE": "/proc/none"}, "cache root", id="no cache"),
    ],
)
def test_a_worker_that_cannot_work_says_why_in_one_sentence(
    program: Program, settings: dict[str, str], named: str
) -> None:
    process = program.start(**settings)

    assert process.wait(END_SECONDS) == 1
    said = program.log.read_text(encoding="utf-8")
    assert named in said
    assert len(said.splitlines()) == 1
    assert "some-secret" not in said
