"""Reading files without broker and database: what `ledger receipts extract` prints.

The same reading as the worker's, in the same kind of process.
"""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from receipt_contract.errors import PermanentError, Reason, ReceiptError
from receipt_runtime import files
from receipt_worker.document import Extraction, Reading
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings

FAILED = "failed"  # beside the statuses of an extraction
FIRST = ("merchant_name", "transaction_date", "total", "currency", "card_last4")
OTHERS = (
    "subtotal",
    "total_tax",
    "tip",
    "rounding",
    "discount_total",
    "change",
    "transaction_time",
    "merchant_address",
    "merchant_phone_number",
    "merchant_tax_id",
    "receipt_number",
    "receipt_type",
    "country_region",
    "payment_method",
    "confidence",
)
LISTS = ("tax_details", "payments")

_EXTRACTIONS: TypeAdapter[Extraction] = TypeAdapter(Extraction)


@dataclass(frozen=True)
class ExtractedFile:
    """What became of one file: a reading, or the reason why there is none."""

    file: str
    seconds: float
    reading: Reading | None = None
    error: Reason | None = None
    picture: bytes = b""  # PNG, when it was asked for

    @property
    def extraction(self) -> Extraction | None:
        """The fields."""
        return self.reading.extraction if self.reading else None

    def document(self) -> dict[str, Any]:
        """Fields as printed, in order: plain strings, money as decimal strings, null for none."""
        found = self.extraction
        values = _EXTRACTIONS.dump_python(found, mode="json") if found else {}
        return {
            "file": self.file,
            **{name: values.get(name) for name in FIRST},
            "extraction_status": values.get("status", FAILED),
            "error": str(self.error) if self.error else None,
            "review_reasons": values.get("review_reasons", []),
            "items": [_item(item) for item in values.get("items", [])],
            "seconds": self.seconds,
            **{name: values.get(name) for name in OTHERS},
            **{name: values.get(name, []) for name in LISTS},
            "fields": values.get("fields", {}),
        }


def extract_files(
    paths: Iterable[Path], settings: ReadingSettings, *, today: date
) -> Iterator[ExtractedFile]:
    """Read files in order, each answered as soon as it is read."""
    with Reader(settings) as reader:
        for path in paths:
            yield extract_file(path, reader, max_bytes=settings.limits.max_bytes, today=today)


def extract_file(path: Path, reader: Reader, *, max_bytes: int, today: date) -> ExtractedFile:
    """Read one file; its failure is part of the answer."""
    started = time.monotonic()
    reading, error = None, None
    try:
        reading = reader.read(_bytes(path, max_bytes), today=today)
    except ReceiptError as failure:
        error = failure.reason
    return ExtractedFile(shown(path), round(time.monotonic() - started, 3), reading, error)


def draw_file(path: Path, reader: Reader, *, max_bytes: int, today: date) -> ExtractedFile:
    """Read one file and draw what was read on its pages; its failure is part of the answer."""
    started = time.monotonic()
    reading, picture, error = None, b"", None
    try:
        reading, picture = reader.draw(_bytes(path, max_bytes), today=today)
    except ReceiptError as failure:
        error = failure.reason
    return ExtractedFile(shown(path), round(time.monotonic() - started, 3), reading, error, picture)


def shown(path: Path) -> str:
    """Return a path as text that any output takes: names need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _bytes(path: Path, max_bytes: int) -> bytes:
    with files.opened_alone(path) as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise PermanentError(Reason.TOO_LARGE)
    return data


def _item(item: dict[str, Any]) -> dict[str, Any]:
    """Name the amount of an item as results do."""
    return {"total_price" if name == "total" else name: value for name, value in item.items()}
