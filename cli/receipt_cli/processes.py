"""`receipts consume` and `receipts collect`: the worker and the collector, run from here.

What the flags say goes to them as their environment does: they have one way to be told.
"""

import os
from pathlib import Path

from receipt_cli.output import ExitCode
from receipt_collector.__main__ import run as run_collector
from receipt_worker.__main__ import run as run_worker


def consume(*, root: Path, cache: Path, rabbitmq_url: str) -> ExitCode:
    """Run a worker until a signal."""
    os.environ["RECEIPT_SOURCE_ROOT"] = str(root)
    os.environ["HOME_BUDGET_OCR_CACHE"] = str(cache)
    os.environ["RABBITMQ_URL"] = rabbitmq_url
    return ExitCode(run_worker())


def collect(*, dsn: str, rabbitmq_url: str) -> ExitCode:
    """Run a collector until a signal."""
    os.environ["DATABASE_URL"] = dsn
    os.environ["RABBITMQ_URL"] = rabbitmq_url
    return ExitCode(run_collector())
