"""The programs of a node, and those that run in its pods before ours do."""

import re
from enum import Enum
from pathlib import Path

from dev import gotools
from dev.gotools import Module
from dev.kubernetes import kubectl, programs
from dev.kubernetes.programs import Program

_FOLDER = Path(__file__).parent / "inside"
_COREDNS = re.compile(r"github\.com/coredns/coredns v(\S+)")
_OUTSIDE = (
    Program.ETCD,
    Program.API_SERVER,
    Program.CONTROLLER_MANAGER,
    Program.SCHEDULER,
    Program.KUBELET,
    Program.PROXY,
)


class Inside(Enum):
    """A program that runs in a pod, and is alone in its image."""

    PAUSE = "pause"
    COREDNS = "coredns"


def ensure(program: Inside) -> Path:
    """Return the program's path; build it when this version never was. Two at once are safe."""
    found = _COREDNS.search((_FOLDER / "go.mod").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError("inside/go.mod names no version of CoreDNS")
    module = Module("node", _FOLDER, found[1], "-s -w")
    return gotools.ensure_program(module, program.value, f"./{program.value}")


def build_all() -> None:
    """Build what was never built."""
    for outside in _OUTSIDE:
        programs.ensure(outside)
    for one in Inside:
        ensure(one)
    kubectl.find()
