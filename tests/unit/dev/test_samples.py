"""The sample receipts: complete, small, and written down truthfully."""

import json
from decimal import Decimal

import pytest

from dev import samples
from dev.samples import Sample
from tests.support.receipts import small_receipt

MAX_BYTES = 60_000


def _name(sample: Sample) -> str:
    return f"{sample.reference}: {sample.about}"


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=_name)
def test_a_sample_is_committed_and_small(sample: Sample) -> None:
    size = (samples.FOLDER / sample.reference).stat().st_size

    assert 0 < size < MAX_BYTES


def test_what_is_printed_is_written_down() -> None:
    written = json.loads(samples.EXPECTED.read_text("utf-8"))

    assert written == {s.reference: samples.expected(s) for s in samples.SAMPLES}


@pytest.mark.parametrize("sample", samples.SAMPLES, ids=_name)
def test_a_sale_is_paid_by_card_or_with_enough_cash(sample: Sample) -> None:
    sale = sample.sale

    assert bool(sale.paid_cash) is not bool(sale.card_last4)
    assert not sale.paid_cash or Decimal(sale.paid_cash) >= sale.total


def test_small_receipts_differ_by_their_number_only() -> None:
    contents = [small_receipt(number).content for number in range(1, 40)]

    assert len(set(contents)) == len(contents)
    assert small_receipt(7) == small_receipt(7)
