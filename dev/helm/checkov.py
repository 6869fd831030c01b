"""Checkov, which judges objects by policies that people agree on.

In an environment of its own, because it pins its libraries; made once a version, a minute.
"""

import os
import shutil
import sys
from pathlib import Path

from dev import console, folders, process

_VERSION = "3.3.30"


def ensure() -> Path:
    """Return the program's path; install it when this version never was. Two at once are safe."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with folders.locked(folder / ".lock"):
        if not _installed().exists():
            with console.step(f"installing Checkov {_VERSION}"):
                _install(folder / "environment")
            _installed().touch()
    return _program()


def built() -> Path | None:
    """Return the program's path when this version was installed before, and install nothing."""
    return _program() if _installed().exists() else None


def _install(environment: Path) -> None:
    shutil.rmtree(environment, ignore_errors=True)
    wanted = f"checkov=={_VERSION}"
    for argv in (
        [sys.executable, "-m", "venv", str(environment)],
        [str(environment / "bin" / "pip"), "install", "--quiet", wanted],
    ):
        process.run_in_sight(argv, env=os.environ, folder=folders.CHECKOUT)


def _folder() -> Path:
    return folders.programs() / "helm" / "checkov" / _VERSION


def _installed() -> Path:
    return _folder() / "installed"


def _program() -> Path:
    return _folder() / "environment" / "bin" / "checkov"


if __name__ == "__main__":
    ensure()
