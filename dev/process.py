"""Starts, recognises and ends background programs, whoever started them (Linux, through /proc).

A program is known by its process id and the moment it started, so that a reused id is never taken
for it. Each is started as the leader of its own session: a Ctrl-C at a terminal does not reach it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, NamedTuple

from dev.errors import DevError

_POLL_SECONDS = 0.05
_AFTER_KILL_SECONDS = 10
_LOG_LINES_SHOWN = 15

# Children of this very process: until their exit is collected they stay as zombies.
_children: list[subprocess.Popen[bytes]] = []


class Identity(NamedTuple):
    """One process and no other."""

    pid: int
    started: int  # clock ticks after boot


class ProcessError(DevError):
    """A background program did not do what it was told."""


class _Entry(NamedTuple):
    """What /proc/PID/stat says of one process."""

    identity: Identity
    parent: int
    session: int
    state: str


def start(
    argv: list[str], *, log: Path, env: Mapping[str, str], account: str | None = None
) -> Identity:
    """Start a program in a session of its own, its output appended to `log`."""
    with log.open("ab") as output:
        child = _spawn(argv, output=output, env=env, account=account)
    _children.append(child)
    return identify(child.pid)


def run(argv: list[str], *, log: Path, env: Mapping[str, str], account: str | None = None) -> None:
    """Run a program to its end, its output appended to `log`. Raises ProcessError."""
    with log.open("ab") as output:
        child = _spawn(argv, output=output, env=env, account=account)
    if _wait_or_kill(child) != 0:
        raise ProcessError(f"{argv[0]} ended with {child.returncode}\n{last_lines(log)}")


def run_in_sight(argv: list[str], *, env: Mapping[str, str], folder: Path) -> None:
    """Run a program in a folder to its end, its output on our stderr. Raises ProcessError."""
    child = _spawn(argv, output=sys.stderr.fileno(), env=env, folder=folder)
    if _wait_or_kill(child) != 0:
        raise ProcessError(f"{argv[0]} ended with {child.returncode}, see above")


def last_lines(log: Path) -> str:
    """Return the end of a log under a line that says whose it is."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join([f"the end of {log}:", *lines[-_LOG_LINES_SHOWN:]])


def identify(pid: int) -> Identity:
    """Return the identity of the process that has this id now. Raises ProcessError."""
    entry = _read(pid)
    if entry is None:
        raise ProcessError(f"there is no process {pid}")
    return entry.identity


def is_alive(process: Identity) -> bool:
    collect_exits()
    entry = _read(process.pid)
    return entry is not None and entry.identity == process and entry.state != "Z"


def collect_exits() -> None:
    """Take note of children of ours that have ended, whoever ended them."""
    _children[:] = [child for child in _children if child.poll() is None]


def family(process: Identity) -> list[Identity]:
    """Return the process, its session and all descendants, as far as they live.

    The session counts too, because children of a dead leader have no parent to be found by.
    """
    collect_exits()
    entries = [entry for entry in _read_all() if entry.state != "Z"]
    reused = any(e.identity.pid == process.pid and e.identity != process for e in entries)
    if reused:  # an id is not reused while its session has members
        return []
    members = {e.identity.pid for e in entries if process.pid in (e.identity.pid, e.session)}
    grew = True
    while grew:
        children = {e.identity.pid for e in entries if e.parent in members} - members
        members |= children
        grew = bool(children)
    return [e.identity for e in entries if e.identity.pid in members]


def send(processes: Iterable[Identity], number: signal.Signals) -> None:
    for process in processes:
        if is_alive(process):
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                continue


def stop(process: Identity, *, first: signal.Signals, patience_seconds: float) -> None:
    """Ask the process to end; whatever of its family is left after the patience is killed."""
    members = family(process)
    send(members, signal.SIGCONT)  # a paused one would not hear
    send([process], first)
    if not _wait_gone(members, patience_seconds):
        kill(process, also=members)


def kill(process: Identity, *, also: Iterable[Identity] = ()) -> None:
    """Kill the whole family at once, as a machine that loses power does, and wait for its end."""
    members = {*also, *family(process)}
    send(members, signal.SIGKILL)
    if not _wait_gone(members, _AFTER_KILL_SECONDS):
        raise ProcessError(f"process {process.pid} or a child of it survives SIGKILL")


def marked(variable: str, value: str) -> list[Identity]:
    """Return the processes that were started with this environment variable, except ourselves."""
    wanted = f"{variable}={value}".encode()
    return [
        entry.identity
        for entry in _read_all()
        if entry.identity.pid != os.getpid() and wanted in _environment(entry.identity.pid)
    ]


def _spawn(
    argv: list[str],
    *,
    output: IO[bytes] | int,
    env: Mapping[str, str],
    account: str | None = None,
    folder: Path = Path("/"),
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=dict(env),
        cwd=folder,
        start_new_session=True,
        user=account,
        group=account,
        extra_groups=None if account is None else [],
    )


def _wait_or_kill(child: subprocess.Popen[bytes]) -> int:
    """Wait for the end; an interrupt takes the program's whole family along."""
    try:
        return child.wait()
    except BaseException:
        kill(identify(child.pid))
        child.wait()
        raise


def _wait_gone(processes: Iterable[Identity], patience_seconds: float) -> bool:
    deadline = time.monotonic() + patience_seconds
    while any(is_alive(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _read_all() -> list[_Entry]:
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [entry for entry in map(_read, pids) if entry is not None]


def _read(pid: int) -> _Entry | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command name stands in brackets and may itself hold brackets and spaces.
    fields = text[text.rindex(")") + 2 :].split()
    return _Entry(Identity(pid, int(fields[19])), int(fields[1]), int(fields[3]), fields[0])


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone, or another account's
        return []
