"""Result events, in both directions and strictly."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_contract import results
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.results import PassEvent, RunEventV1
from tests.support.wire import (
    A_REQUEST,
    A_RUN,
    ANOTHER_RUN,
    pass_document,
    pass_fields,
    receipt_document,
    run_document,
)


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def run_with(**receipt: Any) -> dict[str, Any]:
    payload = run_document()["payload"] | {"receipt": receipt_document(**receipt)}
    return run_document(payload=payload)


def run_of(**changes: Any) -> dict[str, Any]:
    return run_document(payload=run_document()["payload"] | changes)


def pass_with(**changes: Any) -> dict[str, Any]:
    return pass_document(payload={"pass": pass_fields(**changes)})


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


def read_run(document: dict[str, Any]) -> RunEventV1:
    event = results.decode(encoded(document))
    assert isinstance(event, RunEventV1)
    return event


def with_receipt(**changes: Any) -> RunEventV1:
    """Return a run event whose receipt was changed behind the reader's back."""
    event = read_run(run_document())
    receipt = event.payload.receipt.model_copy(update=changes)
    payload = event.payload.model_copy(update={"receipt": receipt})
    return event.model_copy(update={"payload": payload})


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(run_document(), id="a run"),
        pytest.param(run_of(persistence_mode="normal", request_id=None), id="a run of v1"),
        pytest.param(run_of(persistence_mode="cache_only"), id="a run of v3"),
        pytest.param(pass_document(), id="a pass"),
        pytest.param(pass_with(valid_timestamp=None, seconds=None), id="a pass with unknowns"),
    ],
)
def test_an_event_read_and_written_again_says_the_same(document: dict[str, Any]) -> None:
    body = results.encode(results.decode(encoded(document)))

    assert results.encode(results.decode(body)) == body
    written = json.loads(body)
    assert written.pop("occurred_at") == "2026-05-04T12:00:01+00:00"
    assert written == without(document, "occurred_at")


def test_a_body_is_canonical() -> None:
    body = results.encode(read_run(run_with(merchant="Süd")))

    assert body == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode()
    assert b"S\\u00fcd" in body


def test_money_stays_exact() -> None:
    body = encoded(run_with(total=0)).replace(b'"total": 0', b'"total": 0.10000000000000000001')
    event = results.decode(body)

    assert isinstance(event, RunEventV1)
    assert event.payload.receipt.total == Decimal("0.10000000000000000001")
    assert b'"total":0.10000000000000000001' in results.encode(event)


def test_an_event_has_its_id() -> None:
    of_v1 = read_run(run_of(persistence_mode="normal", request_id=None))
    ocr_pass = results.decode(encoded(pass_document()))

    assert of_v1.message_id == f"ocr-result.v1:{A_RUN}:run"
    assert read_run(run_document()).message_id == f"ocr-result.v1:{A_RUN}:run:{A_REQUEST}"
    assert isinstance(ocr_pass, PassEvent)
    assert ocr_pass.message_id == f"ocr-result.v1:{A_RUN}:pass:2"


def test_an_event_has_three_attempts() -> None:
    last = read_run(run_document(attempt=3))
    second = read_run(run_document()).next_attempt()

    assert last.next_attempt() is None
    assert second is not None
    assert second.attempt == 2


@pytest.mark.parametrize("key", run_document())
def test_g6_an_envelope_without_one_of_its_keys_is_refused(key: str) -> None:
    with pytest.raises(PermanentError):
        results.decode(encoded(without(run_document(), key)))


@pytest.mark.parametrize("key", receipt_document())
def test_g6_a_receipt_without_one_of_its_keys_is_refused(key: str) -> None:
    with pytest.raises(PermanentError):
        results.decode(encoded(run_of(receipt=without(receipt_document(), key))))


@pytest.mark.parametrize("key", pass_fields())
def test_g6_a_pass_without_one_of_its_keys_is_refused(key: str) -> None:
    with pytest.raises(PermanentError):
        results.decode(encoded(pass_document(payload={"pass": without(pass_fields(), key)})))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(run_document(extra=1), id="an unknown key"),
        pytest.param(run_with(extra=1), id="an unknown key of the receipt"),
        pytest.param(run_document(schema_version=2), id="another schema"),
        pytest.param(run_document(schema_version=True), id="a schema that is true"),
        pytest.param(run_document(event_type="ocr.run-completed.v2"), id="an unknown type"),
        pytest.param(run_document(pass_id=1), id="a run with a pass"),
        pytest.param(run_document(run_uuid=A_RUN.upper()), id="a loud UUID"),
        pytest.param(run_document(source_reference="/a"), id="an absolute path"),
        pytest.param(run_document(occurred_at="2026-05-04T12:00:01"), id="a time without zone"),
        pytest.param(run_document(occurred_at=1_777_896_001), id="a time in seconds"),
        pytest.param(run_document(attempt=4), id="a fourth attempt"),
        pytest.param(run_document(worker={"service": "", "host": "a", "pid": 1}), id="no service"),
        pytest.param(run_document(worker={"service": "a", "host": "a", "pid": 0}), id="no process"),
        pytest.param(
            run_document(trace_context={"traceparent": f"00-{'0' * 32}-{'b2' * 8}-00"}),
            id="an empty trace",
        ),
        pytest.param(
            run_document(trace_context={"traceparent": f"00-{'a1' * 16}-{'b2' * 8}-02"}),
            id="unknown trace flags",
        ),
        pytest.param(run_of(persistence_mode="normal"), id="a v1 run of a request"),
        pytest.param(run_of(request_id=None), id="a reprocess without its request"),
        pytest.param(run_of(persistence_mode="other"), id="an unknown mode"),
        pytest.param(run_with(total="11.90"), id="an amount in quotes"),
        pytest.param(run_with(total=True), id="an amount that is true"),
        pytest.param(run_with(total=float("nan")), id="an amount that is no number"),
        pytest.param(run_with(tax=10**200), id="an amount no column holds"),
        pytest.param(run_with(total=float("inf")), id="an endless amount"),
        pytest.param(run_with(card_last4="12345"), id="five digits of a card"),
        pytest.param(run_with(card_last4=4242), id="a number of a card"),
        pytest.param(run_with(transaction_date="2026-02-30"), id="no such day"),
        pytest.param(run_with(transaction_date=86_400), id="a day as a number"),
        pytest.param(run_with(transaction_datetime=1_777_896_001), id="a moment as a number"),
        pytest.param(run_with(extraction_confidence=1.5), id="more than sure"),
        pytest.param(run_with(extraction_status="bad"), id="an unknown status"),
        pytest.param(run_with(text=None), id="no text"),
        pytest.param(run_with(items=[{"item_name": "", "line_total": None}]), id="no name"),
        pytest.param(run_with(items=[{"item_name": "Loaf"}]), id="an item without amount"),
        pytest.param(run_with(review_reasons=[7]), id="a reason as a number"),
        pytest.param(
            run_document(artifacts=[run_document()["artifacts"][0] | {"uri": "/tmp/a"}]),  # noqa: S108 - no such file is opened
            id="an artifact without scheme",
        ),
        pytest.param(pass_document(pass_id=3), id="another pass than its envelope"),
        pytest.param(pass_with(run_uuid=ANOTHER_RUN), id="a pass of another run"),
        pytest.param(pass_document(artifacts=run_document()["artifacts"]), id="a pass with a file"),
        pytest.param(pass_with(selected_base=None), id="perhaps the base"),
        pytest.param(pass_with(selected_base=1), id="a base of one"),
        pytest.param(pass_with(line_count=-1), id="fewer than no lines"),
        pytest.param(pass_with(line_count=1.5), id="a line and a half"),
        pytest.param(pass_with(seconds=-1), id="a pass into the past"),
        pytest.param(pass_with(quality=[]), id="a list for an object"),
        pytest.param(
            pass_document(payload={"ocr_pass": pass_fields()}), id="a pass under our own name"
        ),
    ],
)
def test_g6_a_wrong_event_is_refused_for_good(document: dict[str, Any]) -> None:
    with pytest.raises(PermanentError) as refusal:
        results.decode(encoded(document))

    assert refusal.value.reason is Reason.INVALID_EVENT


def test_g7_an_event_of_more_than_8_mib_is_neither_sent_nor_read() -> None:
    room = results.MAX_BODY_BYTES - len(results.encode(with_receipt(text="")))

    body = results.encode(with_receipt(text="x" * room))
    assert results.decode(body) == with_receipt(text="x" * room)
    with pytest.raises(PermanentError):
        results.decode(body + b" ")
    with pytest.raises(PermanentError):
        results.encode(with_receipt(text="x" * (room + 1)))


@given(
    total=st.decimals(allow_nan=False, allow_infinity=False, places=2)
    | st.integers(-(10**12), 10**12).map(Decimal)
)
def test_every_amount_survives_the_wire(total: Decimal) -> None:
    sent = with_receipt(total=total)

    assert results.decode(results.encode(sent)) == sent


@given(body=st.binary(max_size=200))
def test_g6_no_bytes_lead_to_another_error(body: bytes) -> None:
    with pytest.raises(PermanentError):
        results.decode(body)
