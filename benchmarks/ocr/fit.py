"""Confidence fitted to labelled receipts: how often a value was right, by what spoke for it.

Every receipt is seen as the worker may see it: after one pass, after two, after all, with both
engines and with Tesseract alone. Writes the worker's table; never decides anything itself.
"""

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from statistics import mean
from typing import NamedTuple

from benchmarks.ocr import scoring
from benchmarks.ocr.every_pass import EveryPass
from benchmarks.ocr.labels import Label
from dev.generate import ROOT
from receipt_worker import calibration, choosing, records
from receipt_worker.rounds import RoundReading

WRITTEN = ROOT / "worker" / "receipt_worker" / "calibration.toml"
SEEN = ((0,), (0, 1), (0, 1, 2, 3), (1,), (1, 2, 3))  # places in the worker's order of passes
LEAST_VALUES = 25  # of a step; fewer tell little
FIELDS = ("total", "transaction_date", "merchant_name", "currency", calibration.NOT_MEASURED)
BUCKETS = 10  # of confidence, for the distance from the share that was right

_HEAD = """\
# How often a value with at least this score was right, by field: labelled receipts from Malaysia
# and Germany, each read as the engines are ordered (RapidOCR alone, then with one and with three
# passes of Tesseract) and by Tesseract alone (one pass and three); (right + 1) / (receipts + 2),
# neighbours pooled until more evidence means more confidence. The scores are those of records.py.
# Written by `make ocr-bench ARGS=fit`. Fitted on one half and tried on the other, twice, the mean
# distance between confidence and share right was:
"""


class Value(NamedTuple):
    """One value that was chosen: the score of its evidence, and whether it is printed."""

    field: str
    score: int
    right: bool
    half: int


class Step(NamedTuple):
    """Values with at least this score: how many there were, how many were right."""

    score: int
    right: int
    values: int

    @property
    def confidence(self) -> float:
        """Share that was right, as far from certainty as so few values allow."""
        return (self.right + 1) / (self.values + 2)


def write(labels: Sequence[Label], read: Sequence[EveryPass]) -> Iterator[str]:
    """Fit the table, write it where the worker finds it, and tell how well it fits."""
    values = [
        value
        for label, one in zip(labels, read, strict=True)
        for places in SEEN
        for value in _values(label, [one.rounds[place].reading for place in places])
    ]
    told, tables = [], []
    for field in FIELDS:
        own = [value for value in values if value.field == field]
        told.append(f"{field} {_quality(own)}")
        tables.append(_table(field, steps(own)))
    head = "".join(f"# {line}\n" for line in told)
    WRITTEN.write_text(_HEAD + head + "".join(tables), encoding="utf-8")
    yield from told


def _values(label: Label, readings: Sequence[RoundReading]) -> Iterator[Value]:
    """Judge each value that would be chosen from these readings, where somebody knows better."""
    half = hashlib.sha256(label.name.encode()).digest()[0] % 2
    total = choosing.total(readings)
    if total and label.total is not None and not label.is_total_doubtful:
        yield Value("total", records.total_score(total), total.value.value == label.total, half)
    day = choosing.day(readings)
    if day and label.day:
        right = day.value.value == label.day
        yield Value("transaction_date", records.day_score(day), right, half)
    merchant = choosing.merchant(readings)
    if merchant and label.merchant:
        right = scoring.is_merchant(label, merchant.value.name)
        yield Value("merchant_name", records.merchant_score(merchant), right, half)
    for name, wanted in _known(label).items():
        found = choosing.other(readings, name)
        if found:
            field = name if name == "currency" else calibration.NOT_MEASURED
            right = _is_alike(found.value.value, wanted)
            yield Value(field, records.other_score(found), right, half)


def _known(label: Label) -> dict[str, str | Decimal]:
    """Name the fields that nothing is judged by and somebody knows."""
    known = {"currency": label.currency, "transaction_time": label.hour, "total_tax": label.tax}
    return {name: value for name, value in known.items() if value is not None}


def _is_alike(found: str, wanted: str | Decimal) -> bool:
    return Decimal(found) == wanted if isinstance(wanted, Decimal) else found.startswith(wanted)


def steps(values: Sequence[Value]) -> list[Step]:
    """Count values by score; small groups, and those out of order, join a neighbour."""
    found = [
        Step(score, sum(value.right for value in own), len(own))
        for score in sorted({value.score for value in values})
        if (own := [value for value in values if value.score == score])
    ]
    while len(found) > 1 and (place := _small(found)) is not None:
        found = _joined(found, max(0, place - 1))
    while (place := _out_of_order(found)) is not None:
        found = _joined(found, place)
    return found


def _small(found: Sequence[Step]) -> int | None:
    return next((n for n, step in enumerate(found) if step.values < LEAST_VALUES), None)


def _out_of_order(found: Sequence[Step]) -> int | None:
    pairs = enumerate(pairwise(found))
    return next((n for n, (a, b) in pairs if a.confidence >= b.confidence), None)


def _joined(found: Sequence[Step], place: int) -> list[Step]:
    one, other = found[place : place + 2]
    both = Step(one.score, one.right + other.right, one.values + other.values)
    return [*found[:place], both, *found[place + 2 :]]


def _quality(values: Sequence[Value]) -> str:
    """Fit on each half and try on the other: squared error, and distance from the share right."""
    guessed = [
        (_confidence(steps(others), value.score), value.right)
        for half in (0, 1)
        if (others := [value for value in values if value.half != half])
        for value in values
        if value.half == half
    ]
    squared = mean((confidence - right) ** 2 for confidence, right in guessed)
    buckets = [int(BUCKETS * confidence) for confidence, _ in guessed]
    apart = sum(
        abs(sum(confidence - right for confidence, right in _at(bucket, buckets, guessed)))
        for bucket in set(buckets)
    )
    return f"n {len(values)} Brier {squared:.4f}, ECE {apart / len(values):.3f}"


def _at(
    bucket: int, buckets: Sequence[int], guessed: Sequence[tuple[float, bool]]
) -> list[tuple[float, bool]]:
    return [one for own, one in zip(buckets, guessed, strict=True) if own == bucket]


def _confidence(fitted: Sequence[Step], score: int) -> float:
    reached = [step.confidence for step in fitted if step.score <= score]
    return reached[-1] if reached else fitted[0].confidence


def _table(field: str, fitted: Sequence[Step]) -> str:
    rows = (
        f"  {{ score = {step.score}, confidence = {step.confidence:.3f},"
        f" receipts = {step.values} }},\n"
        for step in fitted
    )
    return f"{field} = [\n{''.join(rows)}]\n"
