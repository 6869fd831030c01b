"""Builds programs from a go.mod of ours, once for every checkout.

The folder they land in is named after their version and a hash of go.mod and go.sum, so a changed
pin never meets an old program.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dev import console, folders, go, process


class Module(NamedTuple):
    """A folder with go.mod and go.sum, and what is built from it."""

    name: str  # of the folder in the cache
    folder: Path
    version: str  # of what it pins, for people and for the cache
    linker_flags: str
    tags: str = ""  # of the build, where a program has more parts than we need


def ensure_program(module: Module, file_name: str, package: str) -> Path:
    """Return a program's path; build it when this version never was. Two at once are safe."""
    path = _cache(module) / file_name
    if not path.exists():
        with _only_one_builds(path.parent):
            if not path.exists():
                _build(module, package, path)
    return path


def present(module: Module, file_name: str) -> Path | None:
    """Return the path of a program or file that is there already."""
    path = _cache(module) / file_name
    return path if path.exists() else None


def ensure_file(module: Module, dependency: str, inside: str) -> Path:
    """Return a copy of a file that a pinned Go module brings along."""
    path = _cache(module) / Path(inside).name
    if not path.exists():
        with _only_one_builds(path.parent):
            shutil.copyfile(source(module, dependency) / inside, path)
    return path


def _cache(module: Module) -> Path:
    pins = b"".join((module.folder / name).read_bytes() for name in ("go.mod", "go.sum"))
    key = f"{module.version}-{hashlib.sha256(pins).hexdigest()[:8]}"
    return folders.programs() / module.name / key


@contextmanager
def _only_one_builds(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with folders.locked(folder / ".lock"):
        yield


def _build(module: Module, package: str, path: Path) -> None:
    toolchain = go.find()
    doing = f"building {path.name} {module.version}, once"
    with console.step(doing), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        built = Path(folder) / path.name
        process.run_in_sight(
            [
                str(toolchain),
                "build",
                *("-mod=readonly", "-trimpath", "-buildvcs=false"),
                *("-ldflags", module.linker_flags, "-tags", module.tags),
                *("-o", str(built), package),
            ],
            env=_environment(),
            folder=module.folder,
        )
        built.replace(path)


def source(module: Module, dependency: str) -> Path:
    """Return the folder with the source of a pinned Go module; fetch it where it is missing."""
    told = subprocess.run(
        [go.find(), "mod", "download", "-json", dependency],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=module.folder,
        env=_environment(),
    ).stdout
    return Path(json.loads(told)["Dir"])


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "CGO_ENABLED": "0",  # a bare machine has no C compiler, and the result runs in any image
        "GOWORK": "off",
        "GOTOOLCHAIN": "auto",  # go.mod may want a later Go than the one that was found
    }
