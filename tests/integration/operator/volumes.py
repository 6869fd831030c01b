"""A volume that goes away and comes back, as mounts do."""

import hashlib
from pathlib import Path


def take_away(root: Path, *, empty: bool) -> Path:
    """Unmount a volume: an empty folder stays, or nothing; return where its files are kept."""
    kept = root.with_name(f"{root.name}-kept")
    root.rename(kept)
    if empty:
        root.mkdir()
    return kept


def bring_back(root: Path, kept: Path) -> None:
    """Mount the volume again."""
    if root.exists():
        root.rmdir()
    kept.rename(root)


def write(root: Path, *references: str) -> list[str]:
    """Write a file at each reference; another reference has other bytes."""
    for reference in references:
        path = root / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(reference)
    return list(references)


def write_numbered(root: Path, count: int) -> list[str]:
    """Write so many files."""
    return write(root, *(f"{number:03}.png" for number in range(count)))


def sha_of(reference: str) -> str:
    """Return the content hash of a file written here."""
    return hashlib.sha256(reference.encode()).hexdigest()
