"""Events made from a cache document."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from receipt_contract import results
from receipt_contract.results import PassEvent, PersistenceMode, RunEvent, TraceContext, Worker
from receipt_worker import cache, events
from receipt_worker.events import Telling
from tests.unit.worker.readings import MOMENT, RUN_UUID, SHA, make_document

OTHER = "2024/copy.png"
REQUEST = "00000000-0000-0000-0000-000000000001"
TRACE = TraceContext(traceparent=f"00-{'a' * 32}-{'b' * 16}-00")


def tell(**changes: Any) -> list[RunEvent | PassEvent]:
    fields: dict[str, Any] = {
        "source_reference": OTHER,
        "mode": PersistenceMode.REPROCESS,
        "request_id": REQUEST,
        "worker": Worker(service="some-worker", host="some-host", pid=7),
        "trace": TRACE,
        "artifact_prefix": "pvc://claim/",
        **changes,
    }
    return list(events.events(cache.keep(make_document()), Telling(**fields)))


def test_the_run_comes_first_and_then_its_passes_in_order() -> None:
    run, *passes = tell()

    assert isinstance(run, RunEvent)
    assert [event.pass_id for event in passes] == [1, 2]
    assert {event.run_uuid for event in (run, *passes)} == {RUN_UUID}


def test_the_run_carries_the_extraction_exactly() -> None:
    run = tell()[0]

    assert isinstance(run, RunEvent)
    receipt = run.payload.receipt
    assert (receipt.merchant, receipt.total, receipt.tax, receipt.card_last4) == (
        "Corner Shop",
        Decimal("30.90"),
        Decimal("2.81"),
        "4242",
    )
    assert receipt.transaction_datetime == datetime(2026, 2, 27, 9, 30)  # noqa: DTZ001 - as printed
    assert receipt.text == "TOTAL 30.90"
    assert [(item.item_name, item.line_total) for item in receipt.items] == [
        ("Tea", Decimal("30.90"))
    ]


def test_the_delivery_decides_reference_mode_and_request() -> None:
    run = tell()[0]

    assert isinstance(run, RunEvent)
    assert (run.source_reference, run.source_sha256) == (OTHER, SHA)
    assert (run.payload.persistence_mode, run.payload.request_id) == ("reprocess", REQUEST)


def test_the_artifact_is_named_by_its_content() -> None:
    kept = cache.keep(make_document())

    run = tell()[0]

    [artifact] = run.artifacts
    assert artifact.uri == f"pvc://claim/artifacts/{kept.sha256}.json"
    assert (artifact.sha256, artifact.size_bytes) == (kept.sha256, len(kept.data))


def test_g2_the_same_document_told_twice_gives_the_same_bytes() -> None:
    first, second = ([results.encode(event) for event in tell()] for _ in range(2))

    assert first == second
    assert all(event.occurred_at == MOMENT for event in tell())


def test_the_text_of_a_pass_stays_in_the_artifact() -> None:
    passes = tell()[1:]

    assert all(b"TOTAL" not in results.encode(event) for event in passes)


@pytest.mark.parametrize("position", [0, 1])
def test_events_follow_the_contract(position: int) -> None:
    event = tell()[position]

    assert results.decode(results.encode(event)) == event
