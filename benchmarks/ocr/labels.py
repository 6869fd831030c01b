"""Labelled receipts, as the tester has them: RECEIPT_TEST_DATA names their folder."""

import json
import os
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from dev.generate import ROOT

VARIABLE = "RECEIPT_TEST_DATA"
FOLDER = Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data" / "receipts")


class Collection(StrEnum):
    """Receipts of one kind, scored together."""

    SROIE = "SROIE"
    GERMAN = "German"
    TEXT_PDF = "text PDF"


_SOURCES = {
    "sroie": Collection.SROIE,
    "softmatic-de": Collection.GERMAN,
    "invoice2data": Collection.TEXT_PDF,
}


@dataclass(frozen=True)
class Label:
    """What a person read on one receipt; None and empty where nothing is known."""

    path: Path
    collection: Collection
    merchant: str | None
    day: date | None
    total: Decimal | None
    is_total_doubtful: bool = False
    card_digits: frozenset[str] = frozenset()
    items_sum: Decimal | None = None
    currency: str | None = None
    hour: str | None = None  # HH:MM, as a program wrote it down; so is the tax
    tax: Decimal | None = None

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name


def load() -> list[Label]:
    """Read the labels of every collection; empty where the data is not here."""
    return [
        _label(row)
        for name in ("ground_truth.jsonl", "text_pdf/ground_truth.jsonl")
        for row in rows(name)
    ]


def rows(name: str) -> list[dict[str, Any]]:
    """Read a file of labels below the folder; empty where it is not here."""
    path = FOLDER / name
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _label(row: dict[str, Any]) -> Label:
    return Label(
        path=FOLDER / row["file"],
        collection=_SOURCES[row["source"]],
        merchant=row["company"],
        day=date.fromisoformat(row["date"]) if row["date"] else None,
        total=Decimal(row["total"]) if row["total"] else None,
        is_total_doubtful="total" in (row.get("suspect") or ()),
        card_digits=frozenset(row.get("card_last4_in_transcript") or ()),
        items_sum=_items_sum(row.get("silver")),
        currency=row["currency"],
        **_written_down(row.get("silver")),
    )


def _items_sum(silver: dict[str, Any] | None) -> Decimal | None:
    """Add up items that a program wrote down, where it contradicts neither itself nor a person."""
    if silver is None or not (silver["agrees_with_gold"] and silver["items_sum_ok"]):
        return None
    return sum((Decimal(item["total_price"]) for item in silver["items"]), Decimal(0))


def _written_down(silver: dict[str, Any] | None) -> dict[str, Any]:
    """Take time and tax that a program wrote down, where it does not contradict a person."""
    if silver is None or not silver["agrees_with_gold"]:
        return {}
    hour, tax = silver.get("time"), Decimal(silver.get("tax") or 0)
    return {"hour": hour[:5] if hour else None, "tax": tax or None}
