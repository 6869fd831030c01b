"""Whole receipts of many countries, as printed: everything a person would read from them."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.unit.worker.printed import find

_FILE = Path(__file__).with_name("printed_receipts.toml")
RECEIPTS = [
    pytest.param(receipt, id=receipt["id"])
    for receipt in tomllib.loads(_FILE.read_text(encoding="utf-8"))["receipt"]
]


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_a_receipt_is_read_whole(receipt: dict[str, Any]) -> None:
    found = find(*receipt["text"].splitlines())
    best, day, merchant = found.totals.best, found.day, found.merchant

    assert best is not None
    assert day is not None
    assert merchant is not None
    assert (str(best.value), found.currency) == (receipt["total"], receipt["currency"])
    assert (day.value.isoformat(), day.ambiguous) == (receipt["date"], False)
    assert {other.value for other in found.days} == {day.value}
    assert merchant.name == receipt["merchant"]
    assert (best.proven, found.totals.contradicted) == (receipt["proven"], False)


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_what_goes_with_the_total_is_read(receipt: dict[str, Any]) -> None:
    found = find(*receipt["text"].splitlines())

    for field, name in (("tax", "total_tax"), ("tip", "tip")):
        if field in receipt:
            assert found.amount(name) == Decimal(receipt[field])
    if "paid_by" in receipt:
        assert found.payments[0].method == receipt["paid_by"]
