"""Installs the system packages that are missing. Run before the virtual environment exists.

So it uses the standard library only, and no module here but those that do the same.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from dev import console
from dev.errors import DevError


class Group(StrEnum):
    """What a person wants to do here."""

    ALL = "all"  # every target needs these
    GITOPS = "gitops"
    NODE = "node"  # a node with pods


class _Need(NamedTuple):
    """A Debian package and a file pattern that shows it is there."""

    package: str
    folder: str
    pattern: str


_NEEDS = {
    Group.ALL: (
        _Need("tesseract-ocr", "/usr/bin", "tesseract"),
        _Need("tesseract-ocr-eng", "/usr/share/tesseract-ocr", "*/tessdata/eng.traineddata"),
        _Need("rabbitmq-server", "/usr/lib/rabbitmq/bin", "rabbitmq-server"),
        _Need("postgresql", "/usr/lib/postgresql", "*/bin/postgres"),
    ),
    Group.GITOPS: (_Need("redis-server", "/usr/bin", "redis-server"),),
    Group.NODE: (
        _Need("containerd", "/usr/bin", "containerd"),
        _Need("runc", "/usr/sbin", "runc"),
        _Need("containernetworking-plugins", "/usr/lib/cni", "bridge"),
        _Need("iptables", "/usr/sbin", "iptables"),
        _Need("conntrack", "/usr/sbin", "conntrack"),
        _Need("iproute2", "/usr/sbin", "ip"),
        _Need("buildah", "/usr/bin", "buildah"),
        _Need("debootstrap", "/usr/sbin", "debootstrap"),
        _Need("debian-archive-keyring", "/usr/share/keyrings", "debian-archive-keyring.gpg"),
    ),
}

# We run servers of our own; the packages' must not be started by their installation. A machine
# with a policy of its own keeps it.
_INSTALL = """\
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@"
"""


def ensure(group: Group = Group.ALL) -> None:
    """Install what is missing; quick when nothing is. Raises DevError with the command to run."""
    packages = missing(group)
    if not packages:
        return
    command = f"apt-get install {shlex.join(packages)}"
    if shutil.which("apt-get") is None:
        raise DevError(f"Install these yourself, this is no Debian or Ubuntu: {packages}")
    prefix = _as_root()
    if prefix is None:
        raise DevError(f"System packages are missing. Run as root: {command}")
    with console.step(f"installing {' '.join(packages)}"):
        done = subprocess.run(
            [*prefix, "sh", "-c", _INSTALL, "sh", *packages],
            check=False,
            stdout=subprocess.PIPE,  # some hundred lines that matter only after a failure
            stderr=subprocess.STDOUT,
            text=True,
        )
    if done.returncode != 0 or missing(group):
        console.say(done.stdout)
        raise DevError(f"System packages could not be installed. Run as root: {command}")


def missing(group: Group = Group.ALL) -> list[str]:
    packages = [need.package for need in _NEEDS[group] if not _is_there(need)]
    if importlib.util.find_spec("ensurepip") is None:  # Debian splits it off its Python
        packages.append(f"python{sys.version_info.major}.{sys.version_info.minor}-venv")
    return packages


def _is_there(need: _Need) -> bool:
    return next(Path(need.folder).glob(need.pattern), None) is not None


def _as_root() -> Sequence[str] | None:
    """Return what to put before a command to run it as root, or None where there is no way."""
    if os.getuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    return ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]


if __name__ == "__main__":
    try:
        ensure(Group(*sys.argv[1:2] or [Group.ALL]))
    except DevError as error:
        sys.exit(str(error))
