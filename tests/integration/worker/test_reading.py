"""What is read from files: the bundled samples, and receipts of others where they are at hand."""

import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ocr import labels
from dev import samples
from receipt_contract.errors import Reason
from receipt_contract.results import ExtractionStatus
from receipt_worker import extract
from receipt_worker.extract import ExtractedFile
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingLimits, ReadingSettings
from tests.integration.worker import labelled
from tests.support.receipts import long_receipt

TODAY = date(2026, 3, 1)
EXPECTED: dict[str, dict[str, Any]] = json.loads(samples.EXPECTED.read_text("utf-8"))
PRINTED = ("merchant_name", "transaction_date", "total", "currency", "card_last4")

# Every fifth labelled receipt is read; the floors lie below what the whole set gave.
STEP = 5
PATIENCE = 1200  # seconds before a test counts as stuck on a busy machine
TOTALS_FLOOR, DATES_FLOOR, COMPLETE_FLOOR = Decimal("0.95"), Decimal("0.95"), Decimal("0.8")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Give a warm reading process."""
    folder = tmp_path_factory.mktemp("work")
    with Reader(ReadingSettings.model_validate({"RECEIPT_OCR_WORK_FOLDER": folder})) as reader:
        yield reader


def read(path: Path, reader: Reader) -> ExtractedFile:
    return extract.extract_file(path, reader, max_bytes=ReadingLimits().max_bytes, today=TODAY)


@pytest.mark.parametrize("reference", EXPECTED)
def test_a_sample_gives_what_is_printed_on_it(reference: str, reader: Reader) -> None:
    found = read(samples.FOLDER / reference, reader).document()

    expected = EXPECTED[reference]
    wanted = {name: expected[name] for name in PRINTED if name in expected}
    assert {name: found[name] for name in wanted} == wanted
    assert found["error"] == expected["error"]


def test_most_samples_need_no_person(reader: Reader) -> None:
    good = [name for name, expected in EXPECTED.items() if not expected["error"]]

    found = [read(samples.FOLDER / name, reader).extraction for name in good[:3]]

    assert [item.status for item in found if item] == [ExtractionStatus.COMPLETE] * 3


def test_a_file_that_is_not_there_is_an_answer_too(reader: Reader, tmp_path: Path) -> None:
    assert read(tmp_path / "none.png", reader).error is Reason.SOURCE_MISSING


@labelled.needed
@pytest.mark.timeout(PATIENCE)
def test_totals_and_dates_of_others_are_read_and_complete_is_right(reader: Reader) -> None:
    rows = labels.rows("ground_truth.jsonl")[::STEP]
    documents = [read(labels.FOLDER / row["file"], reader).document() for row in rows]
    pairs = list(zip(rows, documents, strict=True))

    totals = [document["total"] == row["total"] for row, document in pairs]
    dates = [document["transaction_date"] == row["date"] for row, document in pairs]
    wrong = [
        row["file"]
        for (row, document), total, day in zip(pairs, totals, dates, strict=True)
        if document["extraction_status"] == ExtractionStatus.COMPLETE
        and not ((total or "total" in (row.get("suspect") or ())) and day)
    ]
    assert not wrong
    assert sum(totals) >= TOTALS_FLOOR * len(rows)
    assert sum(dates) >= DATES_FLOOR * len(rows)
    complete = [
        document["extraction_status"] == ExtractionStatus.COMPLETE for document in documents
    ]
    assert sum(complete) >= COMPLETE_FLOOR * len(rows)


@labelled.needed
def test_a_text_layer_is_read_without_an_engine(reader: Reader) -> None:
    rows = labels.rows("text_pdf/ground_truth.jsonl")
    data = [(labels.FOLDER / row["file"]).read_bytes() for row in rows]
    readings = [reader.read(one, today=TODAY) for one in data]

    given = [
        all(record.engine == "pdf_text_layer" for record in reading.passes) for reading in readings
    ]
    assert all(given)


def test_no_time_is_negative_when_pages_are_read_side_by_side(reader: Reader) -> None:
    reading = reader.read(long_receipt(1, pages=4), today=TODAY)

    assert min(reading.timings.values()) >= 0
