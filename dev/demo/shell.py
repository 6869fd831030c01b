"""Commands as a person would type them: shown, run, and their answer shown."""

import subprocess
import sys
from collections.abc import Mapping

from dev.demo.errors import DemoError
from dev.kubernetes.cluster import Cluster

_SECONDS = 120
_LEDGER = (sys.executable, "-m", "receipt_cli")


def tell(line: str = "") -> None:
    """Say something to whoever watches."""
    print(line, flush=True)


def heading(text: str) -> None:
    """Begin a scene."""
    tell(f"\n== {text}")


def kubectl(cluster: Cluster, *arguments: str) -> str:
    """Show and run a kubectl command. Raises KubectlError."""
    tell(f"$ kubectl {' '.join(arguments)}")
    answer = cluster.kubectl(*arguments)
    tell(answer.rstrip())
    return answer


def ledger(environment: Mapping[str, str], *arguments: str) -> str:
    """Show and run a ledger command, and show its answer. Raises DemoError."""
    tell(f"$ ledger {' '.join(arguments)}")
    answer = ask_ledger(environment, *arguments)
    tell(answer.rstrip())
    return answer


def ask_ledger(environment: Mapping[str, str], *arguments: str) -> str:
    """Run a ledger command and return its answer. Raises DemoError."""
    done = subprocess.run(
        [*_LEDGER, *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise DemoError(f"ledger {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout
