"""Identities: references, hashes, ids. Each pinned value is one that others have stored."""

import io
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_contract import identity
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.identity import RequestName
from tests.support.wire import A_REQUEST, A_RUN, A_SHA256

NAMED = RequestName("home", "receipts", "CacheRebuild", "spring", "1")


@pytest.mark.parametrize(
    "reference",
    ["shop.png", "2024/03/shop.png", ".hidden/a", "a b/ö.png", "...", "a\nb"],
)
def test_a_plain_path_is_a_reference(reference: str) -> None:
    assert identity.safe_reference(reference) == reference


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "./a",
        "a/.",
        "a\\b",
        "a\0b",
        "a\ud800",
    ],
)
def test_g6_a_path_that_could_leave_the_root_is_no_reference(reference: str) -> None:
    with pytest.raises(PermanentError) as refusal:
        identity.safe_reference(reference)

    assert refusal.value.reason is Reason.UNSAFE_REFERENCE


def test_a_source_is_the_hash_of_its_bytes() -> None:
    several_chunks = b"receipt" * identity.HASH_CHUNK_BYTES

    assert identity.source_sha256(io.BytesIO(b"")) == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert identity.source_sha256(io.BytesIO(several_chunks)) == (
        "b5b8ac36d9e2b46e254204ebde25a69b03f9e014ba39bd8a94152dcf53d16847"
    )


class _WithoutEnd(io.RawIOBase):
    """A file that grows as fast as it is read."""

    def read(self, size: int = -1) -> bytes:
        return bytes(size)


def test_g7_what_has_no_end_is_no_receipt_and_is_not_read_to_it() -> None:
    with pytest.raises(PermanentError) as refusal:
        identity.source_sha256(_WithoutEnd())  # type: ignore[arg-type]  # as much as is used

    assert refusal.value.reason is Reason.TOO_LARGE
    assert identity.source_sha256(io.BytesIO(bytes(identity.MAX_SOURCE_BYTES)))


def test_g3_a_request_id_is_the_same_for_ever() -> None:
    assert identity.request_id(NAMED, wish_hash=A_SHA256) == "b2a5d9c2-b5cd-5d99-bd5f-831e71717283"
    assert (
        identity.request_id(NAMED, wish_hash=A_SHA256, object_uid=A_RUN)
        == "f190365f-ca1b-5575-9d58-71acae8f6a59"
    )


@given(parts=st.lists(st.text("ab", max_size=3), min_size=5, max_size=5))
def test_g2_no_two_names_share_a_request_id(parts: list[str]) -> None:
    named = RequestName(*parts)
    moved = RequestName(*("".join(parts[:2]), "", *parts[2:]))

    same = identity.request_id(named, wish_hash="c") == identity.request_id(moved, wish_hash="c")
    assert same == (named == moved)


def test_a_run_event_of_a_request_has_an_id_of_its_own() -> None:
    assert identity.run_event_id(A_RUN, None) == f"ocr-result.v1:{A_RUN}:run"
    assert identity.run_event_id(A_RUN, A_REQUEST) == f"ocr-result.v1:{A_RUN}:run:{A_REQUEST}"
    assert identity.pass_event_id(A_RUN, 3) == f"ocr-result.v1:{A_RUN}:pass:3"


@pytest.mark.parametrize("text", [A_RUN.upper(), A_RUN.replace("-", ""), f"{{{A_RUN}}}", "", "7"])
def test_only_the_canonical_form_is_a_uuid(text: str) -> None:
    with pytest.raises(ValueError, match="UUID"):
        identity.check_uuid(text)


@given(st.uuids())
def test_every_uuid_has_a_canonical_form(value: uuid.UUID) -> None:
    assert identity.check_uuid(str(value)) == str(value)


def test_a_source_has_one_lock() -> None:
    assert identity.source_lock_key(A_SHA256) == f"home-budget-receipt:{A_SHA256}"
    with pytest.raises(ValueError, match="hash"):
        identity.source_lock_key("5F" * 32)
