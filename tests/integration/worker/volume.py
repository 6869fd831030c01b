"""A volume with receipts and a cache, and the work that asks for them."""

import hashlib
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from receipt_worker import cache, storage
from tests.support.receipts import small_receipt

REFERENCE = "2024/some.png"


@dataclass(frozen=True)
class Volume:
    """Two roots, as they are mounted into a worker."""

    receipts: Path
    cache: Path

    def put(self, content: bytes, reference: str = REFERENCE) -> str:
        """Lay a file at a reference; returns its content hash."""
        path = self.receipts / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return hashlib.sha256(content).hexdigest()

    def put_receipt(self, number: int = 1, reference: str = REFERENCE) -> str:
        """Lay a small, readable receipt at a reference; returns its content hash."""
        return self.put(small_receipt(number).content, reference)

    def artifacts(self) -> list[Path]:
        """List the artifacts."""
        return sorted((self.cache / cache.ARTIFACTS).glob("*.json"))

    def leftovers(self) -> list[Path]:
        """List temporary files of writes that did not end."""
        return list((self.cache / storage.TEMPORARY_FOLDER).glob("*"))


def make_volume(folder: Path) -> Volume:
    """Make both roots, marked as a worker marks them at its start."""
    volume = Volume(folder / "receipts", folder / "cache")
    volume.receipts.mkdir()
    volume.cache.mkdir()
    cache.leave_mark(volume.cache)
    return volume


def request_id(number: int = 1) -> str:
    """Return the id of request `number`."""
    return str(uuid.UUID(int=number))


def v1(sha256: str, reference: str = REFERENCE) -> ProcessWork:
    return ProcessWork(source_sha256=sha256, source_reference=reference)


def v2(sha256: str, reference: str = REFERENCE, *, request: int = 1) -> ReprocessWork:
    return ReprocessWork(
        source_sha256=sha256, source_reference=reference, request_id=request_id(request)
    )


def v3(sha256: str, reference: str = REFERENCE, *, request: int = 1) -> CacheRebuildWork:
    return CacheRebuildWork(
        source_sha256=sha256, source_reference=reference, request_id=request_id(request)
    )


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[None]:
    """Mount a file system at `folder` of `size` bytes."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    options = f"size={size}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this machine lets nobody mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
