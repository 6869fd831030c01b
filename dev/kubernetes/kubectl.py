"""Finds a kubectl that speaks to our cluster, or has one built."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from dev.errors import DevError
from dev.kubernetes import programs
from dev.kubernetes.programs import Program

_OLDEST = (1, 30)  # the oldest that was seen to work with every command we use
_SECONDS = 120


class KubectlError(DevError):
    """kubectl ended with an error; the text is its own."""


@cache  # asking a kubectl for its version takes as long as using it
def find() -> Path:
    """Return the machine's kubectl when it is new enough, else the one built from our pins."""
    on_path = shutil.which("kubectl")
    if on_path is not None and _is_new_enough(Path(on_path)):
        return Path(on_path)
    return programs.ensure(Program.KUBECTL)


def run(kubeconfig: Path, *args: str, text: str = "") -> str:
    """Run kubectl with `text` as its input and return what it prints. Raises KubectlError."""
    done = subprocess.run(
        [str(find()), "--kubeconfig", str(kubeconfig), *args],
        check=False,
        input=text,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise KubectlError(done.stderr.strip())
    return done.stdout


def answers(kubeconfig: Path) -> bool:
    """Tell whether the API server behind the file is ready."""
    if not kubeconfig.exists():
        return False
    try:
        return run(kubeconfig, "get", "--raw", "/readyz") == "ok"
    except (KubectlError, subprocess.TimeoutExpired):
        return False


def _is_new_enough(kubectl: Path) -> bool:
    try:
        answer = subprocess.run(
            [str(kubectl), "version", "--client", "--output=json"],
            check=True,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        ).stdout
        version = json.loads(answer)["clientVersion"]["gitVersion"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return False
    found = re.match(r"v(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= _OLDEST
