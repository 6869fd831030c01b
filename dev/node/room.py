"""A room of its own for a node: network, mounts and process ids that end with it.

Whatever runs inside, its rules, devices, mounts and children cannot outlive the room, however it
ends: the kernel takes them away with its first process. Only control groups have no such owner;
this process removes them when it is asked to end, and those of rooms that were killed when it
starts.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PREFIX = "receipts"  # of the names of devices and control groups

_NETWORK_BITS = 30  # two addresses: this machine's and the node's
_GROUPS = Path("/sys/fs/cgroup")
_DEVICES = Path("/sys/class/net")
_REMOVAL_SECONDS = 10

# Runs as the room's first process. Not all places that container programs write to can be chosen:
# what they write there stays inside. A kubelet sets the kernel up, or does not start: it gets files
# that stand in for the settings. Last comes a process that reaps every orphan.
_INSIDE = r"""
set -e
own=$(mktemp -d)
mount -t tmpfs own "$own"
for folder in /etc /var/lib /var/log; do
  mkdir -p "$own$folder/new" "$own$folder/work"
  layers="lowerdir=$folder,upperdir=$own$folder/new,workdir=$own$folder/work"
  mount -t overlay own -o "$layers" "$folder"
done
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops \
               kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  copy="$own/$(echo "$setting" | tr / -)"
  cat "/proc/sys/$setting" > "$copy"
  mount --bind "$copy" "/proc/sys/$setting"
done
umount --lazy "$own"
rmdir "$own"
mount -t tmpfs own /run
echo 1 > /proc/sys/net/ipv4/ip_forward
ip link set lo up
trap '' CHLD
echo ready
exec sleep infinity
"""


class Room(NamedTuple):
    """What names a room, and the two ends of its one cable."""

    name: str
    host: str  # this machine's address, as seen from inside
    node: str  # the room's address, as seen from this machine

    @property
    def control_group(self) -> str:
        """Under which every pod is counted."""
        return f"/{self.name}"


def numbered(number: int) -> Room:
    """Return the room with a number below 32,768; each has a network of its own."""
    # Kept free for trials between networks (RFC 2544), so nobody's own network has it.
    base = (198 << 24) + (18 << 16) + 4 * number
    host, node = (".".join(str(b) for b in (base + i).to_bytes(4, "big")) for i in (1, 2))
    return Room(f"{PREFIX}{number}", host, node)


def inside(pid: int) -> list[str]:
    """Return how a command is put inside a room, as a child of the command."""
    return ["nsenter", f"--target={pid}", "--mount", "--net", "--pid", "--"]


def on_its_network(pid: int) -> list[str]:
    """Return how a command is put on a room's network, in its own place."""
    return ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]


def first_process(told: Path) -> int | None:
    """Return the id of a room's first process, or None where there is no room."""
    try:
        pid = int(told.read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None
    return pid if Path(f"/proc/{pid}").exists() else None


def _hold(room: Room, told: Path) -> None:
    """Make the room, write its first process's id to a file, and keep it until asked to end."""
    signal.signal(signal.SIGTERM, _end)
    _remove_groups_of_the_dead()
    own = ("--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child=KILL")
    holder = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", *own, "sh", "-c", _INSIDE],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if holder.stdout is None or holder.stdout.readline() != "ready\n":
            raise SystemExit("the room could not be made")
        first = _first_process(holder.pid)
        _connect(room, first)
        for parent in _hierarchies():
            (parent / room.name).mkdir(exist_ok=True)
        told.write_text(str(first), encoding="ascii")
        holder.wait()
    finally:
        told.unlink(missing_ok=True)
        holder.kill()
        holder.wait()
        _remove_groups(room.name)


def _first_process(holder: int) -> int:
    """Return the one child of `unshare`, by its id out here."""
    [child] = Path(f"/proc/{holder}/task/{holder}/children").read_text(encoding="ascii").split()
    return int(child)


def _connect(room: Room, first: int) -> None:
    """Lay a cable from this machine into the room; it goes away with the room."""
    _ip("link", "add", room.name, "type", "veth", "peer", "name", "outside", "netns", str(first))
    _ip("address", "add", f"{room.host}/{_NETWORK_BITS}", "dev", room.name)
    _ip("link", "set", room.name, "up")
    within = on_its_network(first)
    _ip("address", "add", f"{room.node}/{_NETWORK_BITS}", "dev", "outside", within=within)
    _ip("link", "set", "outside", "up", within=within)
    _ip("route", "add", "default", "via", room.host, within=within)


def _ip(*arguments: str, within: list[str] | None = None) -> None:
    subprocess.run([*(within or ()), "ip", *arguments], check=True)


def _hierarchies() -> Iterator[Path]:
    """Yield the root of every hierarchy of control groups: one, or one a controller."""
    if (_GROUPS / "cgroup.controllers").exists():
        yield _GROUPS
    else:
        yield from (path for path in _GROUPS.iterdir() if path.is_mount())


def _remove_groups_of_the_dead() -> None:
    for parent in _hierarchies():
        for group in parent.glob(f"{PREFIX}[0-9]*"):
            if not (_DEVICES / group.name).exists():
                _remove_groups(group.name)


def _remove_groups(name: str) -> None:
    """Remove a group and those below it, in every hierarchy, once their processes are gone."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    for parent in _hierarchies():
        for folder, _, _ in os.walk(parent / name, topdown=False):
            while not _is_removed(Path(folder)) and time.monotonic() < deadline:
                time.sleep(0.05)


def _is_removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # its processes have not quite ended
        return False
    return True


def _end(*_: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    _hold(numbered(int(sys.argv[1])), Path(sys.argv[2]))
