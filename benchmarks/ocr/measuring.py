"""Reads labelled receipts as a worker does, on every core, and keeps what each one cost."""

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from queue import SimpleQueue

from benchmarks.ocr.labels import Label
from receipt_contract.errors import ReceiptError
from receipt_worker.document import Reading
from receipt_worker.reader import Reader
from receipt_worker.reader_process import Cost
from receipt_worker.settings import ReadingSettings

SAMPLE = 41  # receipts, where each is read many times


@dataclass(frozen=True)
class Measured:
    """One receipt read; no reading when the file was refused or its reading failed."""

    label: Label
    reading: Reading | None
    cost: Cost


@dataclass(frozen=True)
class Run:
    """All receipts read, with the seconds of the clock they took together."""

    measured: tuple[Measured, ...]
    wall_seconds: float


def sample(labels: Sequence[Label]) -> Sequence[Label]:
    """Take some receipts, evenly spread."""
    return labels[:: math.ceil(len(labels) / SAMPLE)]


def _as_it_is(label: Label) -> bytes:
    return label.path.read_bytes()


def run(
    labels: Sequence[Label],
    settings: ReadingSettings,
    *,
    readers: int,
    today: date,
    content: Callable[[Label], bytes] = _as_it_is,
) -> Run:
    """Read every receipt once, `readers` at a time; in the order of the labels."""
    free: SimpleQueue[Reader] = SimpleQueue()

    def read(label: Label) -> Measured:
        reader = free.get()
        try:
            reading = reader.read(content(label), today=today)
        except ReceiptError:
            reading = None
        cost = reader.cost
        free.put(reader)
        return Measured(label, reading, cost)

    with ExitStack() as stack:
        for _ in range(readers):
            free.put(stack.enter_context(Reader(settings)))
        pool = stack.enter_context(ThreadPoolExecutor(readers))
        started = time.monotonic()
        measured = tuple(pool.map(read, labels))
        return Run(measured, time.monotonic() - started)
