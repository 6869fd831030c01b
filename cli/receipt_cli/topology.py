"""`topology declare`: makes exchanges, queues and bindings that are missing on the broker."""

from receipt_cli import addresses
from receipt_cli.output import ExitCode, emit
from receipt_runtime.amqp import preflight


def declare(rabbitmq_url: str) -> ExitCode:
    """Declare all of it; what is there already with our arguments stays as it is."""
    report = preflight.declare_topology(addresses.broker(rabbitmq_url))
    emit({"exchanges": report.exchanges, "queues": report.queues, "status": "declared"})
    return ExitCode.DONE
