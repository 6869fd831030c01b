"""`receipts reprocess`: asks for one receipt to be read again, its saved extraction replaced."""

import uuid
from pathlib import Path

from receipt_cli.output import CommandError, ExitCode, emit, say
from receipt_cli.sending import sending
from receipt_contract.topology import WORK_SIDE
from receipt_contract.work import ReprocessWork
from receipt_runtime import files


def run(root: Path, reference: str, *, rabbitmq_url: str, request_id: str | None) -> ExitCode:
    """Publish one v2 message; the same request id asks for the same reading."""
    work = ReprocessWork(
        source_sha256=files.hash_source(root, reference),
        source_reference=reference,
        request_id=request_id or str(uuid.uuid4()),
    )
    try:
        with sending(rabbitmq_url) as sender:
            sender.send(work)
            sender.finish()
    except CommandError as error:
        say(str(error))
        say(f"To ask for the same reading again: --request-id {work.request_id}")
        return ExitCode.FAILED
    emit(
        {
            "source_reference": reference,
            "source_sha256": work.source_sha256,
            "request_id": work.request_id,
            "queue": WORK_SIDE.work,
            "status": "queued",
        }
    )
    return ExitCode.DONE
