"""What the broker's refusals become: a sentence that helps, without anything secret."""

import pytest
from pika.exceptions import (
    AMQPConnectionError,
    ChannelClosedByBroker,
    ConnectionClosedByBroker,
    ProbableAuthenticationError,
)

from receipt_contract.errors import Reason
from receipt_runtime.amqp import connection, declare
from receipt_runtime.amqp.declare import TopologyMismatchError


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        pytest.param(
            406,
            "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'receipts.v1.work'"
            " in vhost 'v': received the value '100000' of type 'signedint' but current is the"
            " value '5' of type 'signedint'",
            "receipts.v1.work: x-max-length is 5 on the broker, wanted is 100000."
            " Drain and delete it, then run `ledger topology declare`.",
            id="another number",
        ),
        pytest.param(
            406,
            "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'receipts.v1.work'"
            " in vhost 'v': received the value 'quorum' of type 'longstr' but current is none",
            "receipts.v1.work: x-queue-type is none on the broker, wanted is quorum."
            " Drain and delete it, then run `ledger topology declare`.",
            id="an absent argument",
        ),
        pytest.param(
            406,
            "PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'receipts.v1.work'"
            " in vhost 'v': received 'direct' but current is 'fanout'",
            "receipts.v1.work: type is fanout on the broker, wanted is direct."
            " Drain and delete it, then run `ledger topology declare`.",
            id="an exchange of another type",
        ),
        pytest.param(
            404,
            "NOT_FOUND - no queue 'receipts.v1.work' in vhost 'v'",
            "receipts.v1.work is missing on the broker; `ledger topology declare` makes it.",
            id="a missing queue",
        ),
        pytest.param(
            403,
            "ACCESS_REFUSED - access to queue 'q' in vhost 'v' refused for user 'bob'",
            "The broker user lacks a permission that the topology needs.",
            id="a missing permission",
        ),
        pytest.param(
            541,
            "INTERNAL_ERROR - secret",
            Reason.BROKER_UNAVAILABLE.sentence,
            id="anything else",
        ),
    ],
)
def test_a_closed_channel_becomes_a_sentence(code: int, text: str, expected: str) -> None:
    assert str(declare.refusal(ChannelClosedByBroker(code, text))) == expected


def test_a_mismatch_names_queue_argument_and_both_values() -> None:
    mismatch = declare.refusal(
        ChannelClosedByBroker(
            406,
            "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost 'v':"
            " received the value '60000' of type 'signedint' but current is none",
        )
    )

    assert isinstance(mismatch, TopologyMismatchError)
    assert (mismatch.name, mismatch.argument, mismatch.wanted, mismatch.present) == (
        "q",
        "x-message-ttl",
        "60000",
        "none",
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            AMQPConnectionError(ProbableAuthenticationError("user bob")),
            "The message broker refused the login.",
            id="a wrong password, wrapped",
        ),
        pytest.param(
            ConnectionClosedByBroker(530, "NOT_ALLOWED - vhost v not found"),
            "The message broker refused the virtual host.",
            id="no such virtual host",
        ),
        pytest.param(
            ConnectionClosedByBroker(320, "CONNECTION_FORCED"),
            Reason.BROKER_UNAVAILABLE.sentence,
            id="a broker that shuts down",
        ),
        pytest.param(OSError("secret"), Reason.BROKER_UNAVAILABLE.sentence, id="no broker at all"),
    ],
)
def test_a_lost_connection_becomes_a_sentence(error: Exception, expected: str) -> None:
    assert str(connection.translated(error)) == expected


@pytest.mark.parametrize("url", ["http://secret@host", "amqp://host:port/"])
def test_g8_a_bad_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match=r"^not an AMQP URL$"):
        connection.parameters(url, name="test")
