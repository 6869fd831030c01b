"""A named set of services: started when missing, reused when healthy, repaired when dead.

`demo` stands until it is taken down; every test session has one of its own (see `leash`).
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from dev import console, daemon, folders, service
from dev.daemon import Daemon
from dev.kubernetes import choice
from dev.kubernetes.cluster import Cluster
from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ

DEMO = "demo"


class Stack:
    """The services of one name; two commands that start or end them wait for each other."""

    def __init__(self, name: str, *, root: Path | None = None) -> None:
        self.name = name
        self.folder = (root or folders.services()) / name
        self.rabbitmq = RabbitMQ(self.folder / "rabbitmq")
        self.postgres = Postgres(self.folder / "postgres")

    @cached_property
    def cluster(self) -> Cluster:
        """The Kubernetes cluster, of the kind chosen by CLUSTER or by what the machine can run."""
        return choice.build(choice.choose(os.environ), self.folder / "kubernetes")

    def services(self) -> Sequence[RabbitMQ | Postgres | Cluster]:
        return (self.postgres, self.rabbitmq, self.cluster)

    def up(self) -> None:
        """Make every service healthy; one that fails or an interrupt leaves no half a new stack."""
        is_new = not self.folder.exists()
        try:
            for one in self.services():
                self.start(one)
        except BaseException:
            if is_new:
                self.down()
            raise

    def start(self, one: RabbitMQ | Postgres | Cluster) -> None:
        """Make one service of this stack healthy. Raises DevError."""
        with self._alone():
            if not one.is_healthy():
                with console.step(f"starting {one.title}"):
                    one.start()

    def daemon(self, name: str) -> Daemon:
        """Return a further program of this stack, such as one of our own; `down` ends it too."""
        folder = self.folder / "programs"
        folders.make_passage(folder)
        return Daemon(folder, name)

    def down(self) -> None:
        """End every program, the latest first, and remove all data."""
        if not self.folder.exists():
            return
        with self._alone():
            for one in daemon.recorded(self.folder):
                one.stop()
            service.remove_folder(self.folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other commands off this stack; the lock lies beside the folder, which may go."""
        path = self.folder.with_suffix(".lock")
        with _locked(path):
            folders.make_passage(self.folder)
            yield
            if not self.folder.exists():
                path.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    while True:
        with path.open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists() and path.samefile(f"/proc/self/fd/{lock.fileno()}"):
                yield
                return
        # Whoever held it before us removed the file with the stack: lock the new file.
