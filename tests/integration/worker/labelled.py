"""Receipts of others with labels, where the tester has them."""

import pytest

from benchmarks.ocr import expected
from benchmarks.ocr.labels import FOLDER, VARIABLE

needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the labelled receipts of others are not here: set {VARIABLE}"
)

odd_files = [pytest.param(odd, id=odd.name) for odd in expected.odd_files()]
