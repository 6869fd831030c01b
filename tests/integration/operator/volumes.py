"""A volume that goes away and comes back, as mounts do."""

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


def write(root: Path, *references: str) -> None:
    """Write a file at each reference; another reference has other bytes."""
    for reference in references:
        path = root / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(reference)
