"""Work messages byte for byte, in both directions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_contract import work
from receipt_contract.errors import PermanentError, Reason
from receipt_contract.identity import check_reference
from receipt_contract.work import CacheRebuildWork, ProcessWork, ReprocessWork
from tests.support.wire import A_REFERENCE, A_REQUEST, A_SHA256, work_document

BATCH = {"batch_id": A_REQUEST, "batch_index": 2, "batch_total": 3}

V1 = ProcessWork(source_sha256=A_SHA256, source_reference=A_REFERENCE)
V2 = ReprocessWork(source_sha256=A_SHA256, source_reference="Café/ö.png", request_id=A_REQUEST)
V3 = CacheRebuildWork(source_sha256=A_SHA256, source_reference=A_REFERENCE, request_id=A_REQUEST)
V3_OF_BATCH = V3.model_copy(update=BATCH)


def is_plain(text: str) -> bool:
    try:
        check_reference(text)
    except ValueError:
        return False
    return True


REFERENCES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(
    is_plain
)


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("message", "body"),
    [
        pytest.param(
            V1,
            b'{"attempt":1,"source_reference":"2024-03/shop.png",'
            b'"source_sha256":"' + A_SHA256.encode() + b'","version":1}',
            id="v1",
        ),
        pytest.param(
            V2,
            b'{"attempt":1,"request_id":"3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60",'
            b'"source_reference":"Caf\\u00e9/\\u00f6.png",'
            b'"source_sha256":"' + A_SHA256.encode() + b'","version":2}',
            id="v2, not ASCII",
        ),
        pytest.param(
            V3,
            b'{"attempt":1,"request_id":"3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60",'
            b'"source_reference":"2024-03/shop.png",'
            b'"source_sha256":"' + A_SHA256.encode() + b'","version":3}',
            id="v3",
        ),
        pytest.param(
            V3_OF_BATCH,
            b'{"attempt":1,"batch_id":"3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60",'
            b'"batch_index":2,"batch_total":3,'
            b'"request_id":"3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60",'
            b'"source_reference":"2024-03/shop.png",'
            b'"source_sha256":"' + A_SHA256.encode() + b'","version":3}',
            id="v3 of a batch",
        ),
    ],
)
def test_a_message_has_exactly_one_body(
    message: ProcessWork | ReprocessWork | CacheRebuildWork, body: bytes
) -> None:
    assert work.encode(message) == body
    assert work.decode(body) == message


@pytest.mark.parametrize(
    ("message", "message_id", "type_"),
    [
        pytest.param(V1, f"receipt.v1:{A_SHA256}", "receipt.process.v1", id="v1"),
        pytest.param(
            V2,
            f"receipt.reprocess.v2:{A_SHA256}:{A_REQUEST}",
            "receipt.reprocess.v2",
            id="v2",
        ),
        pytest.param(
            V3,
            f"receipt.cache-rebuild.v3:{A_SHA256}:{A_REQUEST}",
            "receipt.cache-rebuild.v3",
            id="v3",
        ),
    ],
)
def test_a_message_keeps_its_id_over_attempts(
    message: ProcessWork | ReprocessWork | CacheRebuildWork, message_id: str, type_: str
) -> None:
    again = message.next_attempt()
    assert again is not None

    assert (message.message_id, message.type) == (message_id, type_)
    assert (again.message_id, again.type) == (message_id, type_)


def test_there_are_three_attempts() -> None:
    second = V1.next_attempt()
    assert second is not None
    third = second.next_attempt()
    assert third is not None

    assert (second.attempt, third.attempt) == (2, 3)
    assert third.next_attempt() is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"{", id="no JSON"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[" * 8000, id="nested too deeply"),
        pytest.param(b'{"version":1,' + encoded(work_document(1))[1:], id="a repeated key"),
        pytest.param(encoded(work_document(4)), id="an unknown version"),
        pytest.param(encoded(work_document(1, version=True)), id="a version that is true"),
        pytest.param(encoded(work_document(1, version="1")), id="a version in quotes"),
        pytest.param(encoded(work_document(1, version=1.0)), id="a version with a fraction"),
        pytest.param(encoded(work_document(1, extra=1)), id="an unknown key"),
        pytest.param(encoded(work_document(1, request_id=A_REQUEST)), id="a v1 of a request"),
        pytest.param(encoded(work_document(2, batch_id=A_REQUEST)), id="a v2 of a batch"),
        pytest.param(encoded(work_document(3, batch_id=A_REQUEST)), id="half a batch"),
        pytest.param(
            encoded(work_document(3, batch_id=None, batch_index=None, batch_total=None)),
            id="a batch of nulls",
        ),
        pytest.param(
            encoded(work_document(3, **(BATCH | {"batch_index": 4}))), id="more than the batch"
        ),
        pytest.param(encoded(work_document(2, request_id=A_REQUEST.upper())), id="a loud UUID"),
        pytest.param(encoded(work_document(2, request_id="7")), id="no UUID"),
        pytest.param(encoded(work_document(1, attempt=0)), id="before the first attempt"),
        pytest.param(encoded(work_document(1, attempt=4)), id="after the last attempt"),
        pytest.param(encoded(work_document(1, attempt=True)), id="an attempt that is true"),
        pytest.param(encoded(work_document(1, source_sha256="5F" * 32)), id="a loud hash"),
        pytest.param(encoded(work_document(1, source_sha256="5f" * 31)), id="a short hash"),
        pytest.param(encoded(work_document(1, source_reference="../a")), id="a way up"),
        pytest.param(encoded(work_document(1, source_reference=7)), id="a number as path"),
        pytest.param(encoded(work_document(1, source_reference="a" * 8192)), id="too long"),
    ],
)
def test_g6_a_malformed_message_is_refused_for_good(body: bytes) -> None:
    with pytest.raises(PermanentError) as refusal:
        work.decode(body)

    assert refusal.value.reason is Reason.INVALID_MESSAGE


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("key", ["version", "source_sha256", "source_reference", "attempt"])
def test_g6_a_message_without_one_of_its_keys_is_refused(version: int, key: str) -> None:
    document = work_document(version)
    del document[key]

    with pytest.raises(PermanentError):
        work.decode(encoded(document))


def test_g7_a_reference_too_long_for_a_body_is_never_sent() -> None:
    long = ProcessWork(source_sha256=A_SHA256, source_reference="é" * 1400)

    with pytest.raises(PermanentError) as refusal:
        work.encode(long)
    assert refusal.value.reason is Reason.UNSAFE_REFERENCE


@given(reference=REFERENCES, attempt=st.integers(1, 3))
def test_what_is_sent_is_what_is_read(reference: str, attempt: int) -> None:
    message = ReprocessWork(
        source_sha256=A_SHA256,
        source_reference=reference,
        attempt=attempt,
        request_id=A_REQUEST,
    )

    assert work.decode(work.encode(message)) == message


@given(body=st.binary(max_size=200))
def test_g6_no_bytes_lead_to_another_error(body: bytes) -> None:
    with pytest.raises(PermanentError):
        work.decode(body)
