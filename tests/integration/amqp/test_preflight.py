"""What a person learns about a broker from the command line."""

from urllib.parse import urlsplit, urlunsplit

import pytest

from receipt_contract.errors import OutageError, Reason
from receipt_contract.topology import SIDES, WORK_SIDE, Queue
from receipt_runtime.amqp import preflight
from receipt_runtime.amqp.declare import TopologyMismatchError
from tests.support.amqp import Visitor

QUEUES = [queue for side in SIDES for queue in side.queues]
DRIFTS = [(queue, argument) for queue in WORK_SIDE.queues for argument in queue.arguments]
OTHER_VALUES: dict[str, str | int] = {
    "x-queue-type": "classic",
    "x-overflow": "drop-head",
    "x-max-length": 5,
    "x-message-ttl": 1,
    "x-delivery-limit": 7,
    "x-dead-letter-exchange": "elsewhere",
    "x-dead-letter-routing-key": "elsewhere",
    "x-dead-letter-strategy": "at-most-once",
}


def _drifted(queue: Queue, argument: str) -> dict[str, str | int]:
    other = OTHER_VALUES[argument]
    if other == queue.arguments[argument]:
        other = "reject-publish"  # the dead queues drop their head already
    arguments = {**queue.arguments, argument: other}
    if argument == "x-queue-type":  # a classic queue takes fewer arguments
        return {argument: other}
    return arguments


def test_declaring_makes_everything_and_may_be_repeated(url: str, visitor: Visitor) -> None:
    first = preflight.declare_topology(url)
    second = preflight.declare_topology(url)

    assert first == second
    assert first.queues == tuple(queue.name for queue in QUEUES)
    assert [visitor.ready(name) for name in first.queues] == [0] * len(QUEUES)
    assert preflight.look(url).problems == ()


def test_looking_makes_nothing_and_names_what_is_missing(url: str) -> None:
    for _ in range(2):
        report = preflight.look(url)

        assert report.product == "RabbitMQ"
        assert report.version[0].isdigit()
        assert report.problems == tuple(
            f"{queue.name} is missing on the broker; `ledger topology declare` makes it."
            for queue in QUEUES
        )


@pytest.mark.parametrize(
    ("queue", "argument"),
    [pytest.param(queue, argument, id=f"{queue.name} {argument}") for queue, argument in DRIFTS],
)
def test_every_argument_that_drifted_is_named(
    url: str, visitor: Visitor, queue: Queue, argument: str
) -> None:
    preflight.declare_topology(url)
    visitor.channel.queue_delete(queue.name)
    drifted = _drifted(queue, argument)
    visitor.channel.queue_declare(queue.name, durable=True, arguments=drifted)

    with pytest.raises(TopologyMismatchError) as raised:
        preflight.declare_topology(url)

    (problem,) = preflight.look(url).problems
    assert problem == str(raised.value)
    assert raised.value.name == queue.name
    assert raised.value.present == str(drifted.get(raised.value.argument, "none"))
    assert raised.value.wanted == str(queue.arguments[raised.value.argument])


@pytest.mark.parametrize(
    ("place", "vhost", "expected"),
    [
        pytest.param(
            "secret:secret@{host}:{port}",
            "",
            "The message broker refused the login.",
            id="a wrong login",
        ),
        pytest.param(
            "{user}:{password}@{host}:{port}",
            "secret",
            "The message broker refused the virtual host.",
            id="a wrong virtual host",
        ),
        pytest.param(
            "{user}:{password}@{host}:1", "", Reason.BROKER_UNAVAILABLE.sentence, id="no broker"
        ),
        pytest.param(
            "secret:secret@secret.invalid",
            "",
            Reason.BROKER_UNAVAILABLE.sentence,
            id="no such host",
        ),
    ],
)
def test_g8_a_broker_that_cannot_be_used_is_a_sentence(
    url: str, place: str, vhost: str, expected: str
) -> None:
    parts = urlsplit(url)
    netloc = place.format(
        user=parts.username, password=parts.password, host=parts.hostname, port=parts.port
    )
    other = urlunsplit(parts._replace(netloc=netloc, path=f"/{vhost}" if vhost else parts.path))

    with pytest.raises(OutageError) as raised:
        preflight.look(other)

    assert str(raised.value) == expected
