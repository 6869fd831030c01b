"""Odd files and how each may end: `robustness/manifest.json`, and what its words allow.

The words are those of the data's README. Pure but for reading the two label files.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.ocr import labels, scoring
from receipt_contract.errors import Reason
from receipt_contract.results import ExtractionStatus
from receipt_worker.document import Reading, ReviewReason
from receipt_worker.extract import ExtractedFile
from receipt_worker.passes import LAYER_ENGINE
from receipt_worker.reader_process import Cost

MOST_SECONDS = 10.0
MOST_BYTES = 1_500_000_000
REFUSAL_SECONDS = 1.0  # for what is refused by its size before it is decoded
REFUSAL_BYTES = 500_000_000

_COMPLETE, _REVIEW = ExtractionStatus.COMPLETE, ExtractionStatus.REVIEW
_UNREADABLE = ExtractionStatus.UNREADABLE
_TEXT = frozenset({_COMPLETE, _REVIEW})
_ANY = _TEXT | {_UNREADABLE}
_DOUBT = frozenset({_REVIEW, _UNREADABLE})
_LIMITS = frozenset({Reason.TOO_LARGE, Reason.TOO_MANY_PAGES})
_REFUSALS = frozenset({Reason.TOO_LARGE, Reason.CORRUPT, Reason.UNSUPPORTED_TYPE})

Truth = Mapping[str, Any]


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


class OddFile(NamedTuple):
    """One file, the word for how it may end, and its fields where they are known."""

    name: str
    expect: str
    truth: Truth | None


def odd_files() -> list[OddFile]:
    """Read the manifest; empty where the data is not here."""
    path = labels.FOLDER / "robustness" / "manifest.json"
    if not path.is_file():
        return []
    truths = {row["file"]: row for row in labels.rows("robustness/ground_truth.jsonl")}
    return [
        OddFile(row["file"], row["expect"], truths.get(row["file"]))
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]


def objections(found: ExtractedFile, odd: OddFile) -> list[str]:
    """Say what is wrong about an outcome; nothing when it is one of those allowed."""
    allowed = _ALLOWED[odd.expect]
    if found.reading is None:
        return [] if found.error in allowed.errors else [f"failed as {found.error}"]
    status = found.reading.extraction.status
    # What asks for a person may also be read, where every value is known to be right.
    read_well = odd.expect == "review" and status is _COMPLETE and odd.truth is not None
    if status not in allowed.statuses and not read_well:
        return [f"ended as {status}"]
    return [*_wrong_values(found, odd, read_well=read_well), *_wrong_text(found.reading, odd)]


def _wrong_values(found: ExtractedFile, odd: OddFile, *, read_well: bool) -> list[str]:
    if odd.truth is None or not (read_well or odd.expect.startswith("same_fields")):
        return []
    document, truth = found.document(), odd.truth
    wanted = {"total": truth["total"], "transaction_date": truth["date"]}
    wrong = {name for name, value in wanted.items() if document[name] != value}
    if not scoring.is_same_name(truth["company"], document["merchant_name"] or ""):
        wrong.add("merchant_name")
    may_lack = odd.expect == "same_fields_or_review"
    return [
        f"{name} is {document[name]}"
        for name in sorted(wrong)
        if not (may_lack and document[name] is None)
    ]


def _wrong_text(reading: Reading, odd: OddFile) -> list[str]:
    extraction = reading.extraction
    match odd.expect:
        case "review_multiple" if ReviewReason.MULTIPLE_RECEIPTS not in extraction.review_reasons:
            return ["was taken for one receipt"]
        case "review_empty" if extraction.fields:
            return ["has values that nobody printed"]
        case "must_ocr" | "must_ocr_or_empty" if _uses_layer(reading):
            return ["its text layer was believed"]
        case "must_ocr" if not reading.text:
            return ["has no text"]
        case "text" if not all(page.lines for page in reading.pages):
            return ["has a page without text"]
        case _:
            return []


def _uses_layer(reading: Reading) -> bool:
    return any(record.engine == LAYER_ENGINE for record in reading.passes)


def excesses(found: ExtractedFile, odd: OddFile, cost: Cost) -> list[str]:
    """Say where an outcome took more time or memory than it may."""
    refused = odd.expect == "reject_limit"
    seconds = REFUSAL_SECONDS if refused else MOST_SECONDS
    most = REFUSAL_BYTES if refused else MOST_BYTES
    told = []
    if found.seconds > seconds:
        told.append(f"took {found.seconds:.1f} s")
    if cost.peak_bytes > most:
        told.append(f"held {cost.peak_bytes / 1e6:.0f} MB")
    return told
