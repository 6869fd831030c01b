"""Damaged, huge and strange files of others: each ends as it should, and nothing of it stays."""

from collections.abc import Iterator
from datetime import date

import pytest

from benchmarks.ocr import expected, labels
from benchmarks.ocr.expected import OddFile
from receipt_worker import extract
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings
from tests.integration.worker import labelled
from tests.integration.worker.processes import pictures, reading_children, working_on
from tests.support.amqp import eventually

TODAY = date(2026, 3, 1)
PATIENCE = 1200  # seconds before a test counts as stuck on a busy machine

pytestmark = [labelled.needed, pytest.mark.timeout(PATIENCE)]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> ReadingSettings:
    """Give the settings of a worker, but for a work folder of this module alone."""
    folder = tmp_path_factory.mktemp("work")
    return ReadingSettings.model_validate({"RECEIPT_OCR_WORK_FOLDER": folder})


@pytest.fixture(scope="module")
def reader(settings: ReadingSettings) -> Iterator[Reader]:
    """Give a warm reading process."""
    with Reader(settings) as reader:
        yield reader


@pytest.mark.parametrize("odd", labelled.odd_files)
def test_an_odd_file_ends_as_it_should_and_leaves_nothing_behind(
    odd: OddFile, reader: Reader, settings: ReadingSettings
) -> None:
    most = settings.limits.max_bytes

    found = extract.extract_file(labels.FOLDER / odd.name, reader, max_bytes=most, today=TODAY)

    assert not expected.objections(found, odd)
    assert reader.cost.peak_bytes <= expected.MOST_BYTES
    assert not pictures(settings.work_folder)
    assert not reading_children()
    eventually(lambda: not working_on(settings.work_folder))  # killed, and gone a moment later
