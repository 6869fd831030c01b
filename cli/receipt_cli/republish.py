"""`requests republish`: sends again, under the same ids, what a request still waits for."""

from collections.abc import Iterable, Mapping
from typing import Any

from receipt_cli import addresses
from receipt_cli.output import CommandError, ExitCode, emit, say
from receipt_cli.sending import sending
from receipt_cli.watching import FINISHED
from receipt_contract import asked
from receipt_contract.requests import Kind
from receipt_operator.register import overview
from receipt_operator.register.reading import reader


def run(dsn: str, request_id: str, *, rabbitmq_url: str) -> ExitCode:
    """Send the work of every published item that has not ended."""
    with reader(addresses.database(dsn)) as connection:
        request = overview.request(connection, request_id)
        if request is None:
            say("No request has this id.")
            return ExitCode.FAILED
        if request["state"] == FINISHED:
            say("The request has finished; a new runId runs it again.")
            return ExitCode.FAILED
        items = overview.items(connection, request_id, state="published")
        return _send(items, request, rabbitmq_url=rabbitmq_url)


def _send(
    items: Iterable[Mapping[str, Any]], request: Mapping[str, Any], *, rabbitmq_url: str
) -> ExitCode:
    kind = Kind(request["kind"])
    problem: str | None = None
    with sending(rabbitmq_url) as sender:
        try:
            for item in items:
                sender.send(
                    asked.work_of(
                        kind,
                        source_sha256=item["source_sha256"],
                        source_reference=item["reference"],
                        request_id=request["request_id"],
                    )
                )
            sender.finish()
        except CommandError as error:
            problem = str(error)
        sender.settle()
        published = sender.confirmed
    emit({"request_id": request["request_id"], "published": published})
    if problem:
        say(problem)
        return ExitCode.FAILED
    return ExitCode.DONE
