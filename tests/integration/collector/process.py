"""The real collector process, as tests start and strike it."""

import os
import random
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from dev import ports
from dev.daemon import Command, Daemon
from dev.stack import Stack
from tests.support.amqp import eventually

READY_SECONDS = 60.0


class Collector:
    """A collector that can be killed and started again."""

    def __init__(self, stack: Stack, *, broker_url: str, database_url: str) -> None:
        """Prepare; nothing runs yet."""
        [self._port] = ports.choose(1, random=random.SystemRandom())
        self._environment = environment(broker_url=broker_url, database_url=database_url)
        self.daemon: Daemon = stack.daemon(f"collector-{self._port}")

    def start(self) -> None:
        """Start it; whether it is well is another question."""
        self.daemon.start(
            Command(
                argv=[sys.executable, "-m", "receipt_collector"],
                env={**self._environment, "HEALTH_PORT": str(self._port)},
            ),
            is_ready=lambda: self._answers("livez") == "ok",
            ready_seconds=READY_SECONDS,
        )

    def wait_until_well(self) -> None:
        eventually(lambda: self._answers("readyz") == "ok")

    def problems(self) -> str:
        return self._answers("readyz")

    def counted(self, sample: str) -> float:
        """Return one number of its metrics, 0 before it was first counted."""
        for line in self._answers("metrics").splitlines():
            if line.startswith(f"{sample} "):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    def log(self) -> str:
        return self.daemon.log.read_text(encoding="utf-8")

    def _answers(self, path: str) -> str:
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self._port}/{path}", timeout=10
            ) as answer:
                text: str = answer.read().decode()
        except urllib.error.HTTPError as refused:
            text = refused.read().decode()
        except OSError:
            return ""
        return text.strip() if path != "metrics" else text


@contextmanager
def collecting(stack: Stack, *, broker_url: str, database_url: str) -> Iterator[Collector]:
    """Run a collector until the block ends."""
    collector = Collector(stack, broker_url=broker_url, database_url=database_url)
    collector.start()
    try:
        yield collector
    finally:
        collector.daemon.stop()


def environment(*, broker_url: str, database_url: str) -> dict[str, str]:
    """Return what a collector needs to know."""
    return {
        "PATH": os.environ["PATH"],
        "RABBITMQ_URL": broker_url,
        "DATABASE_URL": database_url,
    }


def run_to_its_end(settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a collector that ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "receipt_collector"],
        env=settings,
        capture_output=True,
        text=True,
        timeout=READY_SECONDS,
        check=False,
    )
