"""Receipts of others with labels, where the tester has them: RECEIPT_TEST_DATA names their folder.

What each word of `expect` in the robustness manifest allows is written down in the data's README.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from receipt_contract.errors import Reason
from receipt_contract.results import ExtractionStatus
from receipt_worker.document import ReviewReason
from receipt_worker.extract import ExtractedFile

VARIABLE = "RECEIPT_TEST_DATA"
CHECKOUT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get(VARIABLE) or CHECKOUT.parent / "shared" / "data" / "receipts")

needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the labelled receipts of others are not here: set {VARIABLE}"
)

_COMPLETE, _REVIEW = ExtractionStatus.COMPLETE, ExtractionStatus.REVIEW
_UNREADABLE = ExtractionStatus.UNREADABLE
_TEXT = frozenset({_COMPLETE, _REVIEW})
_ANY = _TEXT | {_UNREADABLE}
_DOUBT = frozenset({_REVIEW, _UNREADABLE})
_LIMITS = frozenset({Reason.TOO_LARGE, Reason.TOO_MANY_PAGES})
_REFUSALS = frozenset({Reason.TOO_LARGE, Reason.CORRUPT, Reason.UNSUPPORTED_TYPE})


@dataclass(frozen=True)
class Allowed:
    """Statuses and reasons that an outcome may have."""

    statuses: frozenset[ExtractionStatus] = frozenset()
    errors: frozenset[Reason] = frozenset()


_ALLOWED = {
    "text": Allowed(_TEXT),
    "text_or_review": Allowed(_ANY),
    "any": Allowed(_ANY),
    "must_ocr": Allowed(_ANY),
    "must_ocr_or_empty": Allowed(_ANY),
    "sniff_pdf": Allowed(_ANY),
    "text_or_limit": Allowed(_TEXT, frozenset({Reason.TOO_LARGE})),
    "text_or_unsupported": Allowed(_TEXT, frozenset({Reason.UNSUPPORTED_TYPE})),
    "reject_limit": Allowed(errors=_LIMITS),
    "reject_limit_or_downscale": Allowed(_ANY, _LIMITS),
    "reject_corrupt": Allowed(errors=frozenset({Reason.CORRUPT})),
    "reject_corrupt_or_repair": Allowed(_TEXT, frozenset({Reason.CORRUPT})),
    "reject_corrupt_or_review": Allowed(_TEXT, frozenset({Reason.CORRUPT})),
    "reject_empty": Allowed(errors=frozenset({Reason.EMPTY_FILE})),
    "reject_type": Allowed(errors=frozenset({Reason.UNSUPPORTED_TYPE})),
    "reject_encrypted": Allowed(errors=frozenset({Reason.ENCRYPTED})),
    "reject_encrypted_or_text": Allowed(_ANY, frozenset({Reason.ENCRYPTED})),
    "reject_or_review": Allowed(_ANY, _REFUSALS),
    "review_or_reject": Allowed(_ANY, _REFUSALS),
    "review_empty": Allowed(frozenset({_UNREADABLE})),
    "review": Allowed(_DOUBT),
    "review_and_bounded_time": Allowed(_DOUBT),
    "review_multiple": Allowed(frozenset({_REVIEW})),
    "same_fields": Allowed(_TEXT),
    "same_fields_or_review": Allowed(_ANY),
}


def rows(name: str) -> list[dict[str, Any]]:
    """Read a label file; empty where the data is not here."""
    path = FOLDER / name
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def manifest() -> list[Any]:
    """Return (file, expected outcome) of the robustness inputs; empty where they are not here."""
    path = FOLDER / "robustness" / "manifest.json"
    if not path.is_file():
        return []
    return [
        pytest.param(row["file"], row["expect"])
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]


def objections(found: ExtractedFile, expect: str, truth: dict[str, Any] | None) -> list[str]:
    """Say what is wrong about an outcome; nothing when it is one of those allowed."""
    allowed = _ALLOWED[expect]
    extraction = found.extraction
    if extraction is None:
        return [] if found.error in allowed.errors else [f"failed as {found.error}"]
    read_well = expect == "review" and extraction.status is _COMPLETE and truth is not None
    if extraction.status not in allowed.statuses and not read_well:
        return [f"ended as {extraction.status}"]
    if expect == "review_multiple" and (
        ReviewReason.MULTIPLE_RECEIPTS not in extraction.review_reasons
    ):
        return ["was taken for one receipt"]
    if expect == "review_empty" and extraction.fields:
        return ["has values that nobody printed"]
    if (read_well or expect.startswith("same_fields")) and truth is not None:
        return _differences(found, truth, may_lack=expect == "same_fields_or_review")
    return []


def _differences(found: ExtractedFile, truth: dict[str, Any], *, may_lack: bool) -> list[str]:
    document = found.document()
    pairs = {"total": truth["total"], "transaction_date": truth["date"]}
    return [
        f"{name} is {document[name]}"
        for name, wanted in pairs.items()
        if document[name] != wanted and not (may_lack and document[name] is None)
    ]
