"""The programs with which the chart is checked, each built from a go.mod of its own.

They are apart because their dependencies contradict each other.
"""

import re
from enum import Enum
from pathlib import Path

from dev import gotools
from dev.gotools import Module
from dev.helm import definitions

_FOLDER = Path(__file__).parent
# Rules need no clients of two dozen clouds, which take most of the time of a build.
_WITHOUT_DISCOVERY = "remove_all_sd"


class Program(Enum):
    """A program: its folder here, its Go module, and the package inside it."""

    HELM_3 = ("v3", "helm.sh/helm/v3", "cmd/helm")
    HELM_4 = ("v4", "helm.sh/helm/v4", "cmd/helm")
    PROMTOOL = ("promtool", "github.com/prometheus/prometheus", "cmd/promtool")
    ACTIONLINT = ("actionlint", "github.com/rhysd/actionlint", "cmd/actionlint")

    def __init__(self, folder: str, module: str, package: str) -> None:
        self.folder = folder
        self.module = module
        self.package = f"{module}/{package}"

    @property
    def file_name(self) -> str:
        return self.package.rpartition("/")[2]


def ensure(program: Program) -> Path:
    """Return the program's path; build it when this version never was. Two at once are safe."""
    return gotools.ensure_program(_module(program), program.file_name, program.package)


def built(program: Program) -> Path | None:
    """Return the program's path when this version was built before, and build nothing."""
    return gotools.present(_module(program), program.file_name)


def _module(program: Program) -> Module:
    version = _version(program)
    return Module(
        f"helm/{program.folder}",
        _FOLDER / program.folder,
        version,
        _stamp(program),
        _WITHOUT_DISCOVERY if program is Program.PROMTOOL else "",
    )


def _version(program: Program) -> str:
    """Return the version that go.mod pins."""
    pins = (_FOLDER / program.folder / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"{re.escape(program.module)} v(\S+)", pins)
    if found is None:
        raise ValueError(f"{program.folder}/go.mod names no version of {program.module}")
    return found[1]


def _stamp(program: Program) -> str:
    """Helm and charts compare its own version, which is empty unless it is stamped."""
    flags = "-s -w"
    if program in {Program.HELM_3, Program.HELM_4}:
        flags += f" -X {program.module}/internal/version.version=v{_version(program)}"
    return flags


def main() -> None:
    """Build and fetch what was never built or fetched."""
    for program in Program:
        ensure(program)
    definitions.files()


if __name__ == "__main__":
    main()
