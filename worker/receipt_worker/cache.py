"""The OCR cache: the current document of each receipt, artifacts that never change, markers.

    <root>/.ocr-cache                                     the mark by which others know the volume
    <root>/<reference>.json                               the newest run of the receipt
    <root>/artifacts/<sha256 of its bytes>.json           every run, for ever the same bytes
    <root>/.rebuild-requests/<source>/<request>.json      which artifact answers a request

All raise OutageError as `storage` does.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from receipt_contract import cachefiles
from receipt_contract.errors import OutageError, PermanentError, Reason
from receipt_worker import cachefile, locks, storage
from receipt_worker.cachefile import CacheDocument

ARTIFACTS = "artifacts"
MARKERS = ".rebuild-requests"

# Below these names lies what is ours; a receipt whose path leads there could overwrite it.
_OURS = re.compile(
    "|".join(
        (
            rf"{ARTIFACTS}/[0-9a-f]{{64}}\.json",
            *(f"{re.escape(own)}/.*" for own in (MARKERS, locks.FOLDER, storage.TEMPORARY_FOLDER)),
        )
    ),
    re.DOTALL,
)


@dataclass(frozen=True)
class Kept:
    """A document with its bytes' identity."""

    document: CacheDocument
    data: bytes

    @property
    def sha256(self) -> str:
        """Content hash, and name of the artifact."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Marker:
    """That a request was answered for a source, and by which artifact."""

    request_id: str
    source_sha256: str
    cache_sha256: str


_MARKERS: TypeAdapter[Marker] = TypeAdapter(Marker)


def artifact_name(sha256: str) -> str:
    """Path of an artifact below the cache root."""
    return f"{ARTIFACTS}/{sha256}.json"


def leave_mark(root: Path) -> None:
    """Leave the file by which others, and we, tell this volume from an empty mount point."""
    if storage.read(root / cachefiles.ROOT_MARK) is None:
        storage.write(root, cachefiles.ROOT_MARK, b"")


def check_mark(root: Path) -> None:
    """Return when the mark is there; raises OutageError(CACHE_UNAVAILABLE)."""
    if storage.read(root / cachefiles.ROOT_MARK) is None:
        raise OutageError(Reason.CACHE_UNAVAILABLE)


def keep(document: CacheDocument) -> Kept:
    """Give a document its bytes."""
    return Kept(document, cachefile.encode(document))


def current(root: Path, reference: str, *, source_sha256: str) -> Kept | None:
    """Return the receipt's present document, when it can be used and is of these bytes."""
    return _kept(storage.read(root / cachefiles.current(reference)), source_sha256=source_sha256)


def answered(root: Path, *, source_sha256: str, request_id: str) -> Kept | None:
    """Return what answered a request; None without a valid marker or its artifact."""
    data = storage.read(root / _marker_name(source_sha256, request_id))
    marker = _marker(data) if data is not None else None
    if marker is None or (marker.request_id, marker.source_sha256) != (request_id, source_sha256):
        return None
    kept = _kept(
        storage.read(root / artifact_name(marker.cache_sha256)), source_sha256=source_sha256
    )
    return kept if kept is not None and kept.sha256 == marker.cache_sha256 else None


def save(root: Path, reference: str, kept: Kept) -> None:
    """Write the artifact, then the receipt's current document, each unless it is there already.

    Raises PermanentError(UNSAFE_REFERENCE) where no cache file can be named after the reference;
    as an outage it would hold up every receipt behind this one.
    """
    # The artifact first: whoever sees the current document may name the artifact.
    _put(root, artifact_name(kept.sha256), kept.data)
    name = cachefiles.current(reference)
    if _OURS.fullmatch(name):
        raise PermanentError(Reason.UNSAFE_REFERENCE)
    try:
        _put(root, name, kept.data)
    except storage.NoRoomError as error:
        raise PermanentError(Reason.UNSAFE_REFERENCE) from error


def mark_answered(root: Path, kept: Kept, *, request_id: str) -> None:
    """Remember that this document answers a request."""
    source_sha256 = kept.document.metadata.source_sha256
    marker = Marker(request_id, source_sha256, kept.sha256)
    name = _marker_name(source_sha256, request_id)
    storage.write(root, name, _MARKERS.dump_json(marker) + b"\n")


def _put(root: Path, name: str, data: bytes) -> None:
    if storage.read(root / name) != data:
        storage.write(root, name, data)


def _marker_name(source_sha256: str, request_id: str) -> str:
    return f"{MARKERS}/{source_sha256}/{request_id}.json"


def _kept(data: bytes | None, *, source_sha256: str) -> Kept | None:
    document = cachefile.decode(data) if data is not None else None
    if data is None or document is None or document.metadata.source_sha256 != source_sha256:
        return None
    return Kept(document, data)


def _marker(data: bytes) -> Marker | None:
    try:
        return _MARKERS.validate_json(data)
    except ValidationError:
        return None
