"""Discovery: which receipts stand below a root, in an order a plan can resume.

Reads names, never bytes (`receipt_runtime.files` does). Of the tree it holds only the names of the
folders between the root and the one it is in.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath

from receipt_contract.errors import OutageError, ReceiptError
from receipt_contract.identity import check_reference
from receipt_runtime import files

SUPPORTED_SUFFIXES = (".pdf", ".jpg", ".jpeg", ".png", ".heic", ".heif", ".tif", ".tiff")
UNFINISHED_SUFFIXES = (".tmp", ".part")

_ANY_SEGMENTS = "**"


class Skip(StrEnum):
    """Why a name below the root is no receipt that can be asked for."""

    UNENCODABLE = "unencodable"  # its bytes are no UTF-8, so no message could name it
    UNSAFE = "unsafe"  # a backslash in its name: another system would read a path
    LEAVES_ROOT = "leaves_root"  # a link that points outside
    NO_FILE = "no_file"  # a pipe, a device, a link to nothing or to a folder
    UNREADABLE_FOLDER = "unreadable_folder"


class Walk(Iterator[str]):
    """References in byte order; `skipped` counts what was left out so far."""

    def __init__(self, root: Path, *, prefix: str, after: str) -> None:
        """Nothing is read before the first reference is asked for."""
        self.skipped: Counter[Skip] = Counter()
        self._root = root
        self._prefix = prefix
        self._after = after
        self._references = self._walk_whole()

    def __next__(self) -> str:
        """Return the next reference. Raises OutageError(SOURCE_UNAVAILABLE)."""
        return next(self._references)

    def _walk_whole(self) -> Iterator[str]:
        files.check_root(self._root)
        yield from self._walk()
        files.check_root(self._root)  # a volume that went away in between ended the walk early

    def _walk(self) -> Iterator[str]:
        """Go down without recursion: a tree may be deeper than Python's stack."""
        open_folders = [("", iter(self._names("")))]
        while open_folders:
            folder, names = open_folders[-1]
            name = next(names, None)
            if name is None:
                open_folders.pop()
                continue
            reference = folder + name
            if name.endswith("/"):
                if self._may_hold_wanted(reference):
                    open_folders.append((reference, iter(self._names(reference))))
            elif reference > self._after and reference.startswith(self._prefix):
                yield reference

    def _may_hold_wanted(self, folder: str) -> bool:
        on_the_way = self._prefix.startswith(folder) or folder.startswith(self._prefix)
        return on_the_way and (folder > self._after or self._after.startswith(folder))

    def _names(self, folder: str) -> Sequence[str]:
        """Return a folder's receipts and subfolders; these end with "/".

        With that ending, sorting each folder's names sorts all references by their bytes.
        """
        try:
            with os.scandir(self._root / folder) as entries:
                return sorted(name for entry in entries if (name := self._classify(entry)))
        except OSError as error:
            failure = files.translate(error)
            if isinstance(failure, OutageError):
                raise failure from error
            files.check_root(self._root)
            self.skipped[Skip.UNREADABLE_FOLDER] += 1
            return ()

    def _classify(self, entry: os.DirEntry[str]) -> str | None:
        if entry.name.startswith("."):
            return None
        if entry.is_dir(follow_symlinks=False):
            return f"{entry.name}/" if self._nameable(entry.name) else None
        if not is_supported(entry.name) or not self._nameable(entry.name):
            return None
        if not entry.is_file(follow_symlinks=False) and not self._is_link_inside(entry):
            return None
        return entry.name

    def _nameable(self, name: str) -> bool:
        try:
            name.encode("utf-8")
            check_reference(name)
        except UnicodeEncodeError:
            self.skipped[Skip.UNENCODABLE] += 1
        except ValueError:
            self.skipped[Skip.UNSAFE] += 1
        else:
            return True
        return False

    def _is_link_inside(self, entry: os.DirEntry[str]) -> bool:
        try:
            target = Path(entry.path).resolve(strict=True)
            is_file = stat.S_ISREG(target.stat().st_mode)
        except (OSError, RuntimeError) as error:
            _raise_outage(error)
            self.skipped[Skip.NO_FILE] += 1
            return False
        if not target.is_relative_to(self._root.resolve()):
            self.skipped[Skip.LEAVES_ROOT] += 1
            return False
        if not is_file:
            self.skipped[Skip.NO_FILE] += 1
        return is_file


def walk(root: Path, *, prefix: str = "", after: str = "") -> Walk:
    """Stream the references below a root that start with `prefix` and come after `after`.

    Hidden names, unfinished files and other kinds of file are passed over; links to folders are
    not followed. Raises OutageError(SOURCE_UNAVAILABLE) while iterating, never an empty result for
    a root that is away.
    """
    return Walk(root, prefix=prefix, after=after)


def is_supported(name: str) -> bool:
    """Say whether a file name ends like a receipt; `scan.pdf.part` does not."""
    return name.lower().endswith(SUPPORTED_SUFFIXES)


def stable(status: os.stat_result, *, now: float, min_age: float) -> bool:
    """Say whether a file was last touched at least `min_age` seconds before `now`.

    A modification time in the future is a copied one and tells nothing; the change time is the
    volume's own.
    """
    modified = status.st_mtime if status.st_mtime <= now else 0.0
    return now - max(modified, status.st_ctime) >= min_age


def matches_glob(reference: str, glob: str) -> bool:
    """Match a whole reference, case-sensitively; `**` as a segment stands for any number of them.

    As pathlib's full match, except that a negated set never matches a slash.
    """
    return _match_segments(reference.split("/"), _segments(glob))


@lru_cache(maxsize=64)
def _segments(glob: str) -> tuple[str, ...]:
    return PurePosixPath(glob).parts


def _match_segments(names: Sequence[str], segments: Sequence[str]) -> bool:
    """Walk the glob once, keeping every position in the reference it may have reached."""
    reached = {0}
    last = len(segments) - 1
    for index, segment in enumerate(segments):
        if segment == _ANY_SEGMENTS:
            first = min(reached, default=len(names) + 1)
            # At the end it stands for at least one segment: "a/**" is not "a".
            reached = set(range(first + (index == last), len(names) + 1))
        else:
            reached = {
                at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], segment)
            }
    return len(names) in reached


def _raise_outage(error: OSError | RuntimeError) -> None:
    failure: ReceiptError | None = files.translate(error) if isinstance(error, OSError) else None
    if isinstance(failure, OutageError):
        raise failure from error
