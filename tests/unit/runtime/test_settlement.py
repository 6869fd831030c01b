"""Which settlement a failure leads to, and what is published for it."""

import pytest

from receipt_contract import work
from receipt_contract.errors import AttemptError, OutageError, PermanentError, Reason
from receipt_contract.topology import REASON_HEADER, RESULTS_SIDE, WORK_SIDE
from receipt_runtime.amqp import settlement
from receipt_runtime.amqp.messages import Message
from receipt_runtime.amqp.settlement import RESULTS, WORK, Ack, Dead, GiveBack, Hold, Retry
from tests.support.amqp import make_delivery, make_work

A_MESSAGE = Message("exchange", "key", b"{}", "type", "id")


@pytest.mark.parametrize(
    ("attempt", "failure", "kind", "reason"),
    [
        pytest.param(1, None, Ack, None, id="success is acknowledged"),
        pytest.param(3, None, Ack, None, id="success at the last attempt is acknowledged"),
        pytest.param(
            1, PermanentError(Reason.CORRUPT), Dead, Reason.CORRUPT, id="same bytes, same end"
        ),
        pytest.param(
            1, AttemptError(Reason.TIMEOUT), Retry, Reason.TIMEOUT, id="a slow read is tried again"
        ),
        pytest.param(
            2,
            AttemptError(Reason.KILLED),
            Retry,
            Reason.KILLED,
            id="the second try is not the last",
        ),
        pytest.param(
            3, AttemptError(Reason.KILLED), Dead, Reason.KILLED, id="the third try is the last"
        ),
        pytest.param(
            1, RuntimeError("x"), Retry, Reason.INTERNAL_ERROR, id="a bug is worth another try"
        ),
        pytest.param(
            3, RuntimeError("x"), Dead, Reason.INTERNAL_ERROR, id="a bug is not tried for ever"
        ),
        pytest.param(
            1, OutageError(Reason.NO_SPACE), Hold, Reason.NO_SPACE, id="an outage is waited for"
        ),
        pytest.param(
            3,
            OutageError(Reason.NO_SPACE),
            Hold,
            Reason.NO_SPACE,
            id="an outage never uses a try up",
        ),
    ],
)
def test_a_failure_leads_to_its_settlement(
    attempt: int, failure: Exception | None, kind: type, reason: Reason | None
) -> None:
    message = make_work(attempt=attempt)
    delivery = make_delivery(work.encode(message))

    settled = settlement.settle(WORK, delivery, message=message, failure=failure)

    assert type(settled) is kind
    assert getattr(settled, "reason", None) == reason


def test_a_retry_differs_from_the_original_in_its_attempt_only() -> None:
    message = make_work(attempt=1)
    delivery = make_delivery(work.encode(message))

    settled = settlement.settle(
        WORK, delivery, message=message, failure=AttemptError(Reason.TIMEOUT)
    )

    assert isinstance(settled, Retry)
    assert work.decode(settled.message.body) == make_work(attempt=2)
    assert settled.message.exchange == WORK_SIDE.retry
    assert settled.message.message_id == message.message_id
    assert settled.message.headers == {REASON_HEADER: "timeout"}


def test_a_dead_message_keeps_body_and_id() -> None:
    message = make_work(attempt=2)
    delivery = make_delivery(work.encode(message))

    settled = settlement.settle(
        WORK, delivery, message=message, failure=PermanentError(Reason.SOURCE_MISSING)
    )

    assert isinstance(settled, Dead)
    assert settled.message == Message(
        exchange=WORK_SIDE.dead,
        routing_key=WORK_SIDE.routing_key,
        body=delivery.body,
        type="receipt.process.v1",
        message_id=message.message_id,
        headers={REASON_HEADER: "source_missing"},
    )


def test_what_an_outage_gives_back_is_the_same_attempt() -> None:
    message = make_work(attempt=2)
    delivery = make_delivery(work.encode(message))

    settled = settlement.settle(
        WORK, delivery, message=message, failure=OutageError(Reason.SOURCE_UNAVAILABLE)
    )

    assert isinstance(settled, Hold)
    assert settled.again is not None
    assert settled.again.exchange == WORK_SIDE.retry
    assert settled.again.body == delivery.body


def test_no_header_of_the_broker_is_copied() -> None:
    message = make_work()
    delivery = make_delivery(
        work.encode(message),
        headers={"x-death": [{"queue": "q"}], "x-delivery-count": 3, "error_message": "secret"},
    )

    settled = settlement.settle(WORK, delivery, message=message, failure=RuntimeError())

    assert isinstance(settled, Retry)
    assert set(settled.message.headers) == {REASON_HEADER}


@pytest.mark.parametrize(
    ("contract", "body", "type_", "reason"),
    [
        pytest.param(WORK, b"\xff\x00", "receipt.process.v1", Reason.INVALID_MESSAGE, id="work"),
        pytest.param(RESULTS, b"{}", "ocr.result.invalid", Reason.INVALID_EVENT, id="result"),
    ],
)
def test_an_unreadable_body_is_set_aside_byte_for_byte_without_an_id(
    contract: settlement.Contract[settlement.AnyWork], body: bytes, type_: str, reason: Reason
) -> None:
    with pytest.raises(PermanentError) as raised:
        contract.decode(body)

    settled = settlement.settle_unreadable(contract, make_delivery(body), raised.value)

    assert settled.reason is reason
    assert settled.message.exchange in {WORK_SIDE.dead, RESULTS_SIDE.dead}
    assert settled.message.body == body
    assert settled.message.type == type_
    assert settled.message.message_id is None
    assert settled.message.headers == {REASON_HEADER: reason.value}


@pytest.mark.parametrize(
    ("delivery_count", "outage", "expected"),
    [
        pytest.param(0, None, False, id="the first delivery"),
        pytest.param(9, None, False, id="some redeliveries are ordinary"),
        pytest.param(10, None, True, id="many redeliveries are crashes"),
        pytest.param(10, Reason.NO_SPACE, False, id="many redeliveries in an outage are none"),
    ],
)
def test_processes_that_died_over_a_delivery_are_noticed(
    delivery_count: int, outage: Reason | None, *, expected: bool
) -> None:
    delivery = make_delivery(b"", delivery_count=delivery_count)

    assert settlement.is_cut_off(delivery, outage) is expected


@pytest.mark.parametrize(
    ("attempt", "kind"),
    [
        pytest.param(1, Retry, id="is counted"),
        pytest.param(3, Dead, id="is the last try"),
    ],
)
def test_a_cut_off_delivery(attempt: int, kind: type) -> None:
    message = make_work(attempt=attempt)
    delivery = make_delivery(work.encode(message), delivery_count=10)

    settled = settlement.settle_cut_off(WORK, delivery, message=message)

    assert type(settled) is kind
    assert getattr(settled, "reason", None) is Reason.WORKER_CRASHED


@pytest.mark.parametrize(
    ("again", "delivery_count", "seconds", "expected"),
    [
        pytest.param(A_MESSAGE, 0, 899.0, None, id="a short outage is waited for"),
        pytest.param(
            A_MESSAGE, 0, 900.0, GiveBack(A_MESSAGE, Reason.NO_SPACE), id="a long one is not"
        ),
        pytest.param(
            A_MESSAGE, 10, 0.0, GiveBack(A_MESSAGE, Reason.NO_SPACE), id="the broker would bury it"
        ),
        pytest.param(None, 99, 9999.0, None, id="without a way back it is kept for ever"),
    ],
)
def test_a_held_delivery_goes_back_in_time(
    again: Message | None, delivery_count: int, seconds: float, expected: GiveBack | None
) -> None:
    hold = Hold(Reason.NO_SPACE, again)

    given_back = settlement.after_hold(
        hold, delivery_count=delivery_count, seconds_in_hand=seconds, max_hold=900.0
    )

    assert given_back == expected
