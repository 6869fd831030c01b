"""What every development service can do, and the settings it keeps between two starts."""

import json
import secrets
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple

from dev import folders, ports
from dev.daemon import Daemon


class Settings(NamedTuple):
    """Chosen once for a stack, so that a server comes back where its clients look for it."""

    ports: dict[str, int]
    password: str


class Service(ABC):
    """One server of a stack. Faults are made with `kill`, `pause` and `wipe`, undone by `start`.

    The service's folder may belong to another account; `settings.json` in it is for us alone.
    """

    title: str  # for progress lines
    program: str  # names the server's log and record
    port_names: tuple[str, ...]

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Daemon(folder, self.program)

    @abstractmethod
    def start(self) -> None:
        """Bring the service up, on its old ports with its old data; a healthy one is left alone."""

    @abstractmethod
    def is_healthy(self) -> bool:
        """Tell whether clients are served now."""

    @abstractmethod
    def wipe(self) -> None:
        """Lose all data at once and come back empty on the same ports."""

    def stop(self) -> None:
        """End the service in its orderly way, the data kept."""
        self.server.stop()

    def kill(self) -> None:
        """Take the service away at once, as a lost machine does, the data kept."""
        self.server.kill()

    def pause(self) -> None:
        """Freeze the service: connections stay open and nothing answers."""
        self.server.pause()

    def resume(self) -> None:
        """Undo `pause`."""
        self.server.resume()

    @property
    def settings(self) -> Settings:
        """Return the settings, chosen now when the service has none yet."""
        path = self.folder / "settings.json"
        if not path.exists():
            self._choose_settings(path)
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Settings(fields["ports"], fields["password"])

    def _choose_settings(self, path: Path) -> None:
        free = ports.choose(len(self.port_names), random=SystemRandom())
        chosen = Settings(dict(zip(self.port_names, free, strict=True)), secrets.token_hex(16))
        folders.make_passage(self.folder)
        path.touch(mode=0o600)
        path.write_text(json.dumps(chosen._asdict()), encoding="utf-8")


def remove_folder(folder: Path) -> None:
    """Remove a folder; one that is not there is fine."""
    if folder.exists():
        shutil.rmtree(folder)
