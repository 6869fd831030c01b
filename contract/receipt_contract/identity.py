"""Identities: content hash, source reference, request id, message and event ids.

Pure text in, text out. Whoever names a thing on the wire or in the database does it with these.
"""

import hashlib
import re
import uuid
from typing import Annotated, BinaryIO, NamedTuple

from pydantic import AfterValidator, StringConstraints

from receipt_contract.errors import PermanentError, Reason

# Fixed for ever: request ids derive from it, and a change would run everything again.
REQUEST_NAMESPACE = uuid.UUID("6f0f5b0e-6d53-5d0b-9a55-3c1d0a5d2b71")

HASH_CHUNK_BYTES = 1024 * 1024
MAX_SOURCE_BYTES = 20 * 1024 * 1024  # photos of phones end below; more is no receipt

_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_reference(text: str) -> str:
    """Return `text` when it is a plain relative path.

    Raises ValueError: empty, absolute, with a backslash or NUL, with half a surrogate pair, which
    no database takes, or with a segment that is empty, `.` or `..`.
    """
    text.encode("utf-8")
    if not text or "\\" in text or "\0" in text:
        raise ValueError("a reference is a non-empty path without backslash and NUL")
    if any(segment in {"", ".", ".."} for segment in text.split("/")):
        raise ValueError("a reference is relative and has no empty, '.' or '..' segment")
    return text


def check_uuid(text: str) -> str:
    """Return `text` when it is a UUID in canonical form; raises ValueError."""
    if str(uuid.UUID(text)) != text:
        raise ValueError("a UUID is written in lower case with hyphens")
    return text


Sha256 = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{64}$")]
SourceReference = Annotated[str, StringConstraints(strict=True), AfterValidator(check_reference)]
CanonicalUuid = Annotated[str, StringConstraints(strict=True), AfterValidator(check_uuid)]


def source_sha256(stream: BinaryIO) -> str:
    """Hash a receipt's bytes in chunks; the identity of the source.

    Raises PermanentError(TOO_LARGE) beyond MAX_SOURCE_BYTES: a file of terabytes, or one that grows
    as fast as it is read, would hold up every receipt behind it.
    """
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(HASH_CHUNK_BYTES):
        size += len(chunk)
        if size > MAX_SOURCE_BYTES:
            raise PermanentError(Reason.TOO_LARGE)
        digest.update(chunk)
    return digest.hexdigest()


def safe_reference(text: str) -> str:
    """Return a checked reference; raises PermanentError(UNSAFE_REFERENCE)."""
    try:
        return check_reference(text)
    except ValueError as error:
        raise PermanentError(Reason.UNSAFE_REFERENCE) from error


class RequestName(NamedTuple):
    """Where and under which name something was asked for; the cluster's name is a setting."""

    cluster: str
    namespace: str
    kind: str
    name: str
    run_id: str


def request_id(named: RequestName, *, wish_hash: str, object_uid: str = "") -> str:
    """Derive the one id of a request from what was asked, where, under which name.

    `object_uid` is set only for `rerunPolicy: OnRecreate`, where a re-created object is meant to
    run again.
    """
    parts = [*named, wish_hash]
    if object_uid:
        parts.append(object_uid)
    # A separator no part can hold keeps ("a", "bc") and ("ab", "c") apart.
    return str(uuid.uuid5(REQUEST_NAMESPACE, "\n".join(parts)))


def run_event_id(run_uuid: str, request_id: str | None) -> str:
    """Message id of a run event; a request makes its own, so that each can be completed."""
    base = f"ocr-result.v1:{run_uuid}:run"
    return f"{base}:{request_id}" if request_id else base


def pass_event_id(run_uuid: str, pass_id: int) -> str:
    """Message id of a pass event."""
    return f"ocr-result.v1:{run_uuid}:pass:{pass_id}"


def source_lock_key(sha256: str) -> str:
    """Text hashed into the PostgreSQL advisory lock of a source."""
    if not _SHA256.fullmatch(sha256):
        raise ValueError("not a content hash")
    return f"home-budget-receipt:{sha256}"
