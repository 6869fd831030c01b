"""One background program with a record on disk, so that any later command finds and ends it."""

import contextlib
import json
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dev import process
from dev.errors import StartError
from dev.process import Identity

_POLL_SECONDS = 0.1
_RECORD = ".process.json"


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to start, as whom, and how it wants to be asked to end."""

    argv: list[str]
    env: Mapping[str, str]
    account: str | None = None  # None: the account we run as
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 20


@dataclass(frozen=True)
class _Record:
    identity: Identity
    boot: str  # process ids and start times begin anew with each boot of the machine
    stop_signal: signal.Signals
    stop_seconds: float


class Daemon:
    """A program known by its folder and name; the object holds no state of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._record = folder / f"{name}{_RECORD}"

    def start(
        self, command: Command, *, is_ready: Callable[[], bool], ready_seconds: float
    ) -> None:
        """Start the program and wait until it is ready; one that fails leaves nothing behind.

        Raises StartError.
        """
        self.kill()
        identity = process.start(
            command.argv, log=self.log, env=command.env, account=command.account
        )
        self._write(_Record(identity, _boot(), command.stop_signal, command.stop_seconds))
        try:
            self._wait_ready(identity, is_ready=is_ready, seconds=ready_seconds)
        except BaseException:  # an interrupt must not leave a half-started server either
            self.kill()
            raise

    def is_alive(self) -> bool:
        record = self._read()
        return record is not None and process.is_alive(record.identity)

    def stop(self) -> None:
        """End the program in its own orderly way; nothing happens when it does not run."""
        record = self._read()
        if record is not None:
            process.stop(
                record.identity, first=record.stop_signal, patience_seconds=record.stop_seconds
            )
        self._record.unlink(missing_ok=True)

    def kill(self) -> None:
        record = self._read()
        if record is not None:
            process.kill(record.identity)
        self._record.unlink(missing_ok=True)

    def pause(self) -> None:
        process.send(self.family(), signal.SIGSTOP)

    def resume(self) -> None:
        process.send(self.family(), signal.SIGCONT)

    def family(self) -> list[Identity]:
        """Return the program and all that it started, as far as they live."""
        record = self._read()
        return [] if record is None else process.family(record.identity)

    def _wait_ready(
        self, identity: Identity, *, is_ready: Callable[[], bool], seconds: float
    ) -> None:
        deadline = time.monotonic() + seconds
        while not is_ready():
            if not process.is_alive(identity):
                raise StartError(
                    f"{self.name} ended as it was started\n{process.last_lines(self.log)}"
                )
            if time.monotonic() > deadline:
                raise StartError(
                    f"{self.name} not ready in {seconds:.0f} s\n{process.last_lines(self.log)}"
                )
            time.sleep(_POLL_SECONDS)

    def _write(self, record: _Record) -> None:
        fields = {
            "pid": record.identity.pid,
            "started": record.identity.started,
            "boot": record.boot,
            "stop_signal": record.stop_signal.name,
            "stop_seconds": record.stop_seconds,
        }
        written = self._record.with_suffix(".new")
        written.write_text(json.dumps(fields), encoding="utf-8")
        written.replace(self._record)

    def _read(self) -> _Record | None:
        """Return the record of a process of this boot, or None."""
        with contextlib.suppress(FileNotFoundError):
            fields = json.loads(self._record.read_text(encoding="utf-8"))
            if fields["boot"] == _boot():
                return _Record(
                    Identity(fields["pid"], fields["started"]),
                    fields["boot"],
                    signal.Signals[fields["stop_signal"]],
                    fields["stop_seconds"],
                )
        return None

    @property
    def started(self) -> int:
        """Clock ticks after boot, to order programs by; 0 when it was never started."""
        record = self._read()
        return 0 if record is None else record.identity.started


def recorded(folder: Path) -> list[Daemon]:
    """Return every program with a record below the folder, the latest started first."""
    records = folder.rglob(f"*{_RECORD}")
    daemons = [Daemon(path.parent, path.name.removesuffix(_RECORD)) for path in records]
    return sorted(daemons, key=lambda daemon: daemon.started, reverse=True)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
