"""A node's room: whatever ends it, the machine is as it was before."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import folders, process
from dev.daemon import Command, Daemon
from dev.node import room
from dev.node.room import Room
from tests.e2e.tenant import eventually

NUMBER = 31_999  # beyond all ports that stacks choose, so no node has it
SETTINGS = ("vm/overcommit_memory", "kernel/panic", "net/ipv4/ip_forward")

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="a room is made by root")


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Daemon]:
    """Give a room in which something runs that mounts, listens and counts."""
    told = tmp_path / "room.pid"
    daemon = Daemon(tmp_path, "room")
    daemon.start(
        Command(
            argv=[sys.executable, "-m", "dev.node.room", str(NUMBER), str(told)],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(folders.CHECKOUT)},
        ),
        is_ready=told.exists,
        ready_seconds=60,
    )
    yield daemon
    daemon.stop()


def _run_inside(daemon: Daemon, script: str) -> subprocess.Popen[str]:
    pid = room.first_process(daemon.log.with_suffix(".pid"))
    assert pid is not None
    return subprocess.Popen(
        [*room.inside(pid), "sh", "-c", script], stdout=subprocess.PIPE, text=True
    )


def _settings() -> list[str]:
    return [Path("/proc/sys", name).read_text(encoding="ascii") for name in SETTINGS]


def _groups(one: Room) -> list[Path]:
    return [path for path in Path("/sys/fs/cgroup").glob(f"**/{one.name}") if path.is_dir()]


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(signal.SIGTERM, id="asked to end"),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_nothing_of_a_room_outlives_it(held: Daemon, end: signal.Signals) -> None:
    here = room.numbered(NUMBER)
    mounts, settings = Path("/proc/mounts").read_text("utf-8"), _settings()
    script = (
        f"for group in /sys/fs/cgroup/*/{here.name}; do echo $$ > $group/cgroup.procs; done;"
        " mount -t tmpfs test /mnt; echo 3 > /proc/sys/kernel/panic; touch /etc/of-a-room;"
        " iptables --append FORWARD --jump DROP; setsid sleep 1000 & echo done; wait"
    )
    child = _run_inside(held, script)
    assert child.stdout is not None
    assert child.stdout.readline() == "done\n"
    [holder, *others] = sorted(held.family(), key=lambda one: one.pid)
    assert others
    assert Path("/sys/class/net", here.name).exists()

    process.send([holder], end)

    child.communicate(timeout=60)
    eventually(lambda: not any(map(process.is_alive, (holder, *others))), "its processes end")
    eventually(lambda: not Path("/sys/class/net", here.name).exists(), "its cable goes")
    assert not Path("/etc/of-a-room").exists()
    assert Path("/proc/mounts").read_text("utf-8") == mounts
    assert _settings() == settings
    if end is signal.SIGKILL:
        _make_and_end_another(held)
    assert _groups(here) == []


def _make_and_end_another(held: Daemon) -> None:
    """Have the next room of the machine tidy up control groups, which nobody else could."""
    told = held.log.with_name("another.pid")
    another = subprocess.Popen(
        [sys.executable, "-m", "dev.node.room", str(NUMBER - 1), str(told)],
        cwd=folders.CHECKOUT,
    )
    while not told.exists() and another.poll() is None:
        time.sleep(0.1)
    another.terminate()
    assert another.wait(timeout=60) == 0
