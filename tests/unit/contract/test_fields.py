"""Result schema 2: every field, in both directions, strictly and within bounds."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from receipt_contract import older, results
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.fields import Money
from receipt_contract.results import RunEventV1, RunEventV2
from tests.support.fields import found, make_full_receipt, make_full_run, make_page
from tests.support.wire import GOLDEN

MONEY: TypeAdapter[Decimal] = TypeAdapter(Money)


def document(**receipt: Any) -> dict[str, Any]:
    """Return an event as it stands on the wire, with a changed receipt."""
    written: dict[str, Any] = json.loads(results.encode(make_full_run(request=1)))
    written["payload"]["receipt"] |= receipt
    return written


def read(written: dict[str, Any]) -> results.ResultEvent:
    return results.decode(json.dumps(written).encode())


def test_an_event_of_schema_2_read_and_written_again_says_the_same() -> None:
    event = make_full_run(request=1)

    assert results.decode(results.encode(event)) == event


def test_money_dates_and_times_are_text_on_the_wire() -> None:
    receipt = document()["payload"]["receipt"]

    assert receipt["total"]["value"] == "30.90"
    assert receipt["total"]["candidates"] == ["30.90"]
    assert receipt["transaction_date"]["value"] == "2026-02-27"
    assert receipt["transaction_time"]["value"] == "09:30:00"
    assert receipt["items"][1]["quantity"] == "1.254"
    assert receipt["tax_details"][0]["rate"] == "10"
    assert receipt["payments"][0]["card_last4"] == "4242"


def test_g2_a_run_told_in_either_schema_has_one_event_id() -> None:
    full = make_full_run(request=1)

    assert older.event(full).message_id == full.message_id


def test_schema_1_tells_the_main_fields_of_schema_2() -> None:
    event = older.event(make_full_run(request=1))

    assert results.decode(results.encode(event)) == event
    receipt = event.payload.receipt
    assert (receipt.merchant, receipt.total, receipt.tax) == (
        "Corner Shop",
        Decimal("30.90"),
        Decimal("2.81"),
    )
    assert str(receipt.transaction_datetime) == "2026-02-27 09:30:00"
    assert (receipt.payment_method, receipt.card_last4) == ("Card", "4242")
    assert [item.item_name for item in receipt.items] == ["Tea", "Apples"]
    assert receipt.text == "CORNER SHOP\nTOTAL 30.90"


def test_schema_1_has_exactly_the_keys_that_older_readers_know() -> None:
    known = json.loads((GOLDEN / "run.v1.json").read_text())

    written = json.loads(results.encode(older.event(make_full_run(request=1))))

    assert _keys(written) == _keys(known)


@pytest.mark.parametrize("name", ["run.v1.json", "pass.v1.json"])
def test_what_older_workers_sent_is_read(name: str) -> None:
    body = (GOLDEN / name).read_bytes().rstrip()

    assert results.encode(results.decode(body)) == body


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"extra": None}, id="an unknown field"),
        pytest.param({"total": {"value": 30.9}}, id="an amount that is a number"),
        pytest.param({"total": {"value": "3e1"}}, id="an amount with an exponent"),
        pytest.param({"total": {"value": "NaN"}}, id="an amount that is none"),
        pytest.param({"total": {"value": "30,90"}}, id="an amount with a comma"),
        pytest.param({"total": {"value": "12345678901.00"}}, id="more than any column holds"),
        pytest.param({"total": {"value": "1.00001"}}, id="more decimals than money has"),
        pytest.param({"total": {"raw_text": "30.90"}}, id="a field without value"),
        pytest.param({"currency": {"value": "\u20ac"}}, id="a sign for a currency"),
        pytest.param({"country_region": {"value": "Germany"}}, id="a name for a country"),
        pytest.param({"transaction_time": {"value": "9:30"}}, id="a time of three digits"),
        pytest.param({"transaction_time": {"value": "09:30:00+01:00"}}, id="a time with a zone"),
        pytest.param({"transaction_date": {"value": "27.02.2026"}}, id="a date as printed"),
        pytest.param({"merchant_name": {"value": "x" * 201}}, id="a name without end"),
        pytest.param({"merchant_name": {"value": ""}}, id="an empty name"),
        pytest.param({"payments": [{"card_last4": "12345"}]}, id="five digits of a card"),
        pytest.param({"tax_details": [{"rate": "101"}]}, id="a rate above all"),
        pytest.param({"items": [{"description": None}]}, id="an item without name"),
        pytest.param({"items": [{"description": "a"}] * 501}, id="items without end"),
        pytest.param({"payments": [{}] * 21}, id="payments without end"),
        pytest.param({"review_reasons": ["Not A Code"]}, id="a sentence for a reason"),
        pytest.param(
            {"total": {"value": "1.00", "confidence": 1.1}}, id="a confidence above certainty"
        ),
        pytest.param(
            {"total": {"value": "1.00", "candidates": ["1.00"] * 11}}, id="candidates without end"
        ),
    ],
)
def test_g6_a_wrong_field_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PermanentError) as caught:
        read(document(**changes))

    assert caught.value.reason is Reason.INVALID_EVENT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"schema_version": 3}, Reason.NEWER_SCHEMA, id="a schema yet to come"),
        pytest.param(
            {"schema_version": 3, "event_type": "ocr.run-completed.v3", "new": 1},
            Reason.NEWER_SCHEMA,
            id="a schema and a type yet to come",
        ),
        pytest.param({"schema_version": 1}, Reason.INVALID_EVENT, id="the type of another schema"),
        pytest.param({"schema_version": "3"}, Reason.INVALID_EVENT, id="a schema as text"),
        pytest.param({"schema_version": 0}, Reason.INVALID_EVENT, id="a schema before the first"),
    ],
)
def test_g6_another_schema_is_told_from_a_broken_event(
    changes: dict[str, Any], reason: Reason
) -> None:
    with pytest.raises(PermanentError) as caught:
        read(document() | changes)

    assert caught.value.reason is reason


def test_a_field_that_is_absent_was_not_read() -> None:
    written = document()
    del written["payload"]["receipt"]["tip"]

    event = read(written)

    assert isinstance(event, RunEventV2)
    assert event.payload.receipt.tip is None


def test_a_receipt_of_which_nothing_was_read_is_told_in_both_schemas() -> None:
    receipt = make_full_receipt(**dict.fromkeys(make_full_receipt().found), items=(), payments=())
    full = make_full_run(receipt=receipt, pages=(make_page(texts=()),))

    event = older.event(full)

    assert results.decode(results.encode(full)) == full
    assert isinstance(event, RunEventV1)
    assert event.payload.receipt.total is None
    assert event.payload.receipt.text == ""


@given(st.decimals(min_value=-9_999_999_999, max_value=9_999_999_999, places=4))
def test_every_amount_a_column_holds_survives_as_text(amount: Decimal) -> None:
    event = make_full_run(receipt=make_full_receipt(total=found(amount)))

    assert results.decode(results.encode(event)) == event


@given(st.text(max_size=20) | st.integers() | st.floats() | st.booleans() | st.none())
def test_g6_nothing_but_a_plain_decimal_string_is_money(value: object) -> None:
    try:
        amount = MONEY.validate_python(value)
    except ValidationError:
        return

    assert isinstance(value, str)
    assert format(amount, "f") == value


def _keys(value: Any) -> Any:
    """Return the shape of a document: keys of objects, and of the first entry of lists."""
    if isinstance(value, dict):
        return {key: _keys(inner) for key, inner in value.items() if key != "timings"}
    if isinstance(value, list) and value:
        return [_keys(value[0])]
    return None
