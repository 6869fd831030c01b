"""Damaged, huge and strange files of others: each ends as it should, and nothing of it stays."""

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


@pytest.mark.parametrize("odd", labelled.odd_files)
def test_an_odd_file_ends_as_it_should_and_leaves_nothing_behind(
    odd: OddFile, reader: Reader, reading: ReadingSettings
) -> None:
    most = reading.limits.max_bytes

    found = extract.extract_file(labels.FOLDER / odd.name, reader, max_bytes=most, today=TODAY)

    assert not expected.objections(found, odd)
    assert reader.cost.peak_bytes <= expected.MOST_BYTES
    assert not pictures(reading.work_folder)
    assert not reading_children()
    eventually(lambda: not working_on(reading.work_folder))  # killed, and gone a moment later
