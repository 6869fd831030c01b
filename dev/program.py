"""Our own programs, started as a user would: an entry point, an environment, a health server."""

import os
import random
import sys
import urllib.request
from collections.abc import Mapping
from enum import StrEnum

from dev import ports
from dev.daemon import Command, Daemon

READY_SECONDS = 180.0  # generous: only a start that fails waits this long


class Probe(StrEnum):
    """What a program has to say before it counts as started."""

    ALIVE = "/livez"
    READY = "/readyz"


class Program:
    """A running program and the address of its health server."""

    def __init__(self, daemon: Daemon, url: str) -> None:
        """Name a program that has been started."""
        self.daemon = daemon
        self._url = url

    def is_ready(self) -> bool:
        """Tell what its readiness probe says now."""
        return _says_ok(f"{self._url}{Probe.READY}")

    def metrics(self) -> dict[str, float]:
        """Read its metrics as {sample: value}."""
        text = _get(f"{self._url}/metrics")
        pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {sample: float(value) for sample, value in pairs}


def start(
    daemon: Daemon, module: str, settings: Mapping[str, str], *, until: Probe = Probe.READY
) -> Program:
    """Start `python -m module` anew and wait until its probe says so. Raises StartError."""
    [port] = ports.choose(1, random=random.SystemRandom())
    url = f"http://127.0.0.1:{port}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "HEALTH_PORT": str(port),
        **settings,
    }
    daemon.stop()
    daemon.start(
        Command(argv=[sys.executable, "-m", module], env=environment),
        is_ready=lambda: _says_ok(f"{url}{until}"),
        ready_seconds=READY_SECONDS,
    )
    return Program(daemon, url)


def _says_ok(url: str) -> bool:
    try:
        return _get(url).strip() == "ok"
    except OSError:
        return False


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - an address of ours
        text: str = answer.read().decode()
        return text
