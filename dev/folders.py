"""Where development services keep their data, and where built programs are kept.

Service data lies outside the checkout: the accounts `postgres` and `rabbitmq` must reach it, and a
checkout may lie under a home that only its owner can enter.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.errors import DevError

CHECKOUT = Path(__file__).resolve().parent.parent

_OWNER_PASSES_OTHERS_PASS_THROUGH = 0o711
_OWNER_ONLY = 0o700


def services() -> Path:
    """Return the folder of this user and checkout that holds every stack.

    Raises DevError when another account made it: it holds passwords and keys.
    """
    checkout = hashlib.sha256(os.fsencode(CHECKOUT)).hexdigest()[:10]
    folder = Path("/var/tmp") / f"receipt-operator-{os.getuid()}-{checkout}"  # noqa: S108  # ownership is checked below
    folder.mkdir(mode=_OWNER_PASSES_OTHERS_PASS_THROUGH, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or folder.is_symlink():
        raise DevError(f"{folder} belongs to another account; remove it")
    folder.chmod(_OWNER_PASSES_OTHERS_PASS_THROUGH)
    return folder


def programs() -> Path:
    """Return the folder for programs built once and used by every checkout of this user."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "receipt-operator"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Let one process at a time into the block; the others wait."""
    with file.open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_passage(folder: Path) -> None:
    """Make a folder that service accounts may pass through but not list."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(_OWNER_PASSES_OTHERS_PASS_THROUGH)


def make_private(folder: Path, *, account: str | None = None) -> None:
    """Make a folder for one account alone; None is the account we run as."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(_OWNER_ONLY)
    if account is not None:
        shutil.chown(folder, account, account)


def give(file: Path, *, account: str | None) -> None:
    """Let one account alone read the file; None is the account we run as."""
    file.chmod(0o600)
    if account is not None:
        shutil.chown(file, account, account)
