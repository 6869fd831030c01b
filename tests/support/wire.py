"""Builders of messages as they stand on the wire: documents with every key, ready to be spoiled."""

from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent / "golden"  # bodies that workers sent before schema 2 was known
A_SHA256 = "5f" * 32
A_RUN = "0f8fad5b-d9cb-469f-a165-70867728950e"
ANOTHER_RUN = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
A_REQUEST = "3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60"
A_REFERENCE = "2024-03/shop.png"


def work_document(version: int, /, **changes: Any) -> dict[str, Any]:
    """Return a work message of a version; v3 without its batch."""
    document: dict[str, Any] = {
        "version": version,
        "source_sha256": A_SHA256,
        "source_reference": A_REFERENCE,
        "attempt": 1,
    }
    if version > 1:
        document["request_id"] = A_REQUEST
    return document | changes


def run_document(**changes: Any) -> dict[str, Any]:
    """Return a run event of a reprocess."""
    return _envelope() | {
        "event_type": "ocr.run-completed.v1",
        "pass_id": None,
        "payload": {
            "receipt": receipt_document(),
            "run": {
                "cache_version": 1,
                "processed_at": "2026-05-04T12:00:00+00:00",
                "processing_seconds": 2.5,
                "timings": {"ocr": 2.25},
            },
            "persistence_mode": "reprocess",
            "request_id": A_REQUEST,
        },
        "artifacts": [
            {
                "kind": "ocr-cache",
                "uri": f"pvc://receipt-ocr/artifacts/{A_SHA256}.json",
                "sha256": A_SHA256,
                "media_type": "application/json",
                "size_bytes": 2048,
            }
        ],
        **changes,
    }


def receipt_document(**changes: Any) -> dict[str, Any]:
    """Return what a receipt says."""
    return {
        "merchant": "CORNER SHOP",
        "receipt_id": None,
        "payment_method": "card",
        "payer": None,
        "transaction_date": "2026-05-03",
        "transaction_datetime": "2026-05-03T18:30:00",
        "subtotal": 10.0,
        "tax": 1.9,
        "total": 11.9,
        "card_last4": "4242",
        "items": [{"item_name": "Loaf", "line_total": 10.0}],
        "text": "CORNER SHOP\nTOTAL 11.90",
        "extraction_confidence": 0.9,
        "extraction_status": "complete",
        "review_reasons": [],
    } | changes


def pass_document(**changes: Any) -> dict[str, Any]:
    """Return a pass event."""
    return _envelope() | {
        "event_type": "ocr.pass-completed.v1",
        "pass_id": 2,
        "payload": {"pass": pass_fields()},
        "artifacts": [],
        **changes,
    }


def pass_fields(**changes: Any) -> dict[str, Any]:
    """Return the one pass in a pass event."""
    return {
        "schema_version": 1,
        "run_uuid": A_RUN,
        "pass_id": 2,
        "engine": "tesseract",
        "engine_type": "ocr",
        "variant": "grey",
        "status": "ok",
        "psm": "6",
        "error_type": None,
        "page_number": 1,
        "dpi": 300,
        "line_count": 12,
        "character_count": 240,
        "structural_score": 7,
        "summary_score": None,
        "consensus_line_coverage": 10,
        "seconds": 1.25,
        "consensus_coverage_ratio": 0.83,
        "valid_timestamp": True,
        "selected_base": True,
        "quality": {},
        "engine_options": {"lang": "deu+eng"},
        "usage": {},
        "provenance": {},
    } | changes


def _envelope() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "run_uuid": A_RUN,
        "source_sha256": A_SHA256,
        "source_reference": A_REFERENCE,
        "worker": {"service": "receipt-worker", "host": "worker-0", "pid": 7},
        "trace_context": {"traceparent": f"00-{'a1' * 16}-{'b2' * 8}-00"},
        "occurred_at": "2026-05-04T12:00:01Z",
        "attempt": 1,
    }
