"""Events made from a cache document."""

import json
from datetime import date, datetime, time
from decimal import Decimal

import pytest

from receipt_contract import results
from receipt_contract.fields import Box, Found, Money
from receipt_contract.results import (
    PersistenceMode,
    ResultEvent,
    RunEventV1,
    RunEventV2,
    TraceContext,
    Worker,
)
from receipt_worker import cache, events
from receipt_worker.cachefile import CacheDocument
from receipt_worker.events import Schema, Telling
from tests.support.wire import GOLDEN
from tests.unit.worker.readings import MOMENT, RUN_UUID, SHA, make_document

OTHER = "2024/copy.png"
REQUEST = "00000000-0000-0000-0000-000000000001"
BOX_TOLD = Box(x=1, y=2, width=30, height=4)
TRACE = TraceContext(traceparent=f"00-{'a' * 32}-{'b' * 16}-00")


def tell(
    document: CacheDocument | None = None, *, schema: Schema = Schema.EVERY_FIELD
) -> list[ResultEvent]:
    telling = Telling(
        source_reference=OTHER,
        mode=PersistenceMode.REPROCESS,
        request_id=REQUEST,
        worker=Worker(service="some-worker", host="some-host", pid=7),
        trace=TRACE,
        artifact_prefix="pvc://claim/",
        schema=schema,
    )
    return list(events.events(cache.keep(document or make_document()), telling))


def test_the_run_comes_first_and_then_its_passes_in_order() -> None:
    run, *passes = tell()

    assert isinstance(run, RunEventV2)
    assert [event.pass_id for event in passes] == [1, 2]
    assert {event.run_uuid for event in (run, *passes)} == {RUN_UUID}


def test_the_run_carries_every_field_with_its_evidence() -> None:
    run = tell()[0]

    assert isinstance(run, RunEventV2)
    receipt = run.payload.receipt
    assert {name: found.value for name, found in receipt.found.items()} == {
        "merchant_name": "Corner Shop",
        "transaction_date": date(2026, 2, 27),
        "transaction_time": time(9, 30),
        "receipt_number": "R-1001",
        "currency": "EUR",
        "subtotal": Decimal("28.09"),
        "total_tax": Decimal("2.81"),
        "total": Decimal("30.90"),
    }
    assert receipt.total == Found[Money](
        value=Decimal("30.90"),
        raw_text="30.90",
        page=1,
        box=BOX_TOLD,
        pass_id=1,
        confidence=Decimal("0.97"),
        evidence=("parts_sum",),
        candidates=(Decimal("30.90"),),
    )
    assert [(item.quantity, item.price, item.total_price) for item in receipt.items] == [
        (Decimal(2), Decimal("15.45"), Decimal("30.90"))
    ]
    assert [(paid.method, paid.card_last4) for paid in receipt.payments] == [("Visa", "4242")]


def test_the_run_carries_the_lines_with_their_places() -> None:
    run = tell()[0]

    assert isinstance(run, RunEventV2)
    [page] = run.payload.pages
    [line] = page.lines
    assert (page.page_number, page.width) == (1, 400)
    assert (page.printed_left, page.printed_width) == (1, 30)
    assert (line.text, line.confidence, line.box) == ("TOTAL 30.90", Decimal("0.9512"), BOX_TOLD)


def test_schema_1_carries_the_main_fields_exactly() -> None:
    run = tell(schema=Schema.MAIN_FIELDS)[0]

    assert isinstance(run, RunEventV1)
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


def test_a_worker_set_to_schema_1_sends_what_its_predecessor_sent() -> None:
    run, ocr_pass, _ = tell(schema=Schema.MAIN_FIELDS)

    told = json.loads(results.encode(run))
    before = json.loads((GOLDEN / "run.v1.json").read_bytes())
    # The cache document of this version is another one, so its artifact is.
    told["payload"]["run"]["cache_version"] = before["payload"]["run"]["cache_version"]
    told["artifacts"] = before["artifacts"]
    assert told == before
    assert results.encode(ocr_pass) == (GOLDEN / "pass.v1.json").read_bytes()


def test_the_delivery_decides_reference_mode_and_request() -> None:
    run = tell()[0]

    assert isinstance(run, RunEventV2)
    assert (run.source_reference, run.source_sha256) == (OTHER, SHA)
    assert (run.payload.persistence_mode, run.payload.request_id) == ("reprocess", REQUEST)


def test_the_artifact_is_named_by_its_content() -> None:
    kept = cache.keep(make_document())

    run = tell()[0]

    [artifact] = run.artifacts
    assert artifact.uri == f"pvc://claim/artifacts/{kept.sha256}.json"
    assert (artifact.sha256, artifact.size_bytes) == (kept.sha256, len(kept.data))


@pytest.mark.parametrize("schema", Schema)
def test_g2_the_same_document_told_twice_gives_the_same_bytes(schema: Schema) -> None:
    first, second = ([results.encode(event) for event in tell(schema=schema)] for _ in range(2))

    assert first == second
    assert all(event.occurred_at == MOMENT for event in tell())


def test_the_text_of_a_pass_stays_in_the_artifact() -> None:
    passes = tell()[1:]

    assert all(b"TOTAL" not in results.encode(event) for event in passes)


def test_g2_either_schema_tells_a_run_under_one_event_id() -> None:
    assert tell()[0].message_id == tell(schema=Schema.MAIN_FIELDS)[0].message_id


@pytest.mark.parametrize("position", [0, 1])
def test_events_follow_the_contract(position: int) -> None:
    event = tell()[position]

    assert results.decode(results.encode(event)) == event
