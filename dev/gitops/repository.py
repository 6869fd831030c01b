"""One Git repository on loopback, to which manifests are committed."""

import os
import random
import subprocess
from collections.abc import Mapping

from dev import folders, ports
from dev.daemon import Command
from dev.stack import Stack

_NAME = "manifests"
_BRANCH = "main"
_READY_SECONDS = 30
_AUTHOR = {
    "GIT_AUTHOR_NAME": "somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.test",
    "GIT_COMMITTER_NAME": "somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.test",
}


class Repository:
    """A repository served by `git daemon`; every commit is on its one branch."""

    def __init__(self, stack: Stack) -> None:
        """Make nothing yet."""
        self._stack = stack
        self._root = stack.folder / "git"
        self._tree = self._root / _NAME
        [self._port] = ports.choose(1, random=random.SystemRandom())
        self.url = f"git://127.0.0.1:{self._port}/{_NAME}/.git"

    def start(self) -> None:
        """Make the repository and serve it. Raises DevError."""
        folders.make_private(self._root)
        self._tree.mkdir()
        self._git("init", "--quiet", f"--initial-branch={_BRANCH}")
        self.commit({"README": "Manifests for tests.\n"})
        serving = ("--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={self._port}")
        self._stack.daemon("git-daemon").start(
            Command(
                argv=["git", "daemon", *serving, f"--base-path={self._root}"],
                env=self._environment(),
            ),
            is_ready=lambda: ports.accepts(self._port),
            ready_seconds=_READY_SECONDS,
        )

    def commit(self, files: Mapping[str, str | None]) -> str:
        """Commit files by path, None takes one away; return the revision."""
        for name, text in files.items():
            path = self._tree / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message=Change manifests")
        return self._git("rev-parse", "HEAD").strip()

    def revert(self) -> str:
        """Undo the last commit by another one; return its revision."""
        self._git("revert", "--no-edit", "HEAD")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *args: str) -> str:
        return subprocess.run(
            ["git", *args],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._tree,
            env=self._environment(),
        ).stdout

    def _environment(self) -> dict[str, str]:
        """Return an environment in which nobody's own Git settings count."""
        nobody = {"HOME": str(self._root), "GIT_CONFIG_NOSYSTEM": "1"}
        return {"PATH": os.environ["PATH"], **nobody, **_AUTHOR}
