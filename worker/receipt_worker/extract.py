"""Reading files without broker and database: what `ledger receipts extract` prints.

The same reading as the worker's, in the same kind of process.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from receipt_contract.errors import PermanentError, Reason, ReceiptError
from receipt_runtime import files
from receipt_worker.document import Extraction, ItemRecord, Reading
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings

FAILED = "failed"  # beside the statuses of an extraction


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
        return {
            "file": self.file,
            "merchant_name": found.merchant_name if found else None,
            "transaction_date": _text(found.transaction_date if found else None),
            "total": _text(found.total if found else None),
            "currency": found.currency if found else None,
            "card_last4": found.card_last4 if found else None,
            "extraction_status": str(found.status) if found else FAILED,
            "error": str(self.error) if self.error else None,
            "review_reasons": [str(reason) for reason in found.review_reasons] if found else [],
            "items": [_item(item) for item in found.items] if found else [],
            "seconds": self.seconds,
            "subtotal": _text(found.subtotal if found else None),
            "total_tax": _text(found.total_tax if found else None),
            "fields": {name: asdict(field) for name, field in found.fields.items()}
            if found
            else {},
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
    return ExtractedFile(str(path), round(time.monotonic() - started, 3), reading, error)


def draw_file(path: Path, reader: Reader, *, max_bytes: int, today: date) -> ExtractedFile:
    """Read one file and draw what was read on its pages; its failure is part of the answer."""
    started = time.monotonic()
    reading, picture, error = None, b"", None
    try:
        reading, picture = reader.draw(_bytes(path, max_bytes), today=today)
    except ReceiptError as failure:
        error = failure.reason
    return ExtractedFile(str(path), round(time.monotonic() - started, 3), reading, error, picture)


def _bytes(path: Path, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except OSError as error:
        raise files.translate(error) from error
    if len(data) > max_bytes:
        raise PermanentError(Reason.TOO_LARGE)
    return data


def _item(item: ItemRecord) -> dict[str, str | None]:
    return {
        "description": item.description,
        "quantity": _text(item.quantity),
        "unit_price": _text(item.unit_price),
        "total_price": _text(item.total),
    }


def _text(value: Decimal | date | None) -> str | None:
    return None if value is None else str(value)
