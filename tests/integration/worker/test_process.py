"""One delivery from message to confirmed events, with a real broker, Tesseract and disk."""

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from dev import paper
from dev.paper import Row
from receipt_contract import results
from receipt_contract.errors import OutageError, PermanentError, Reason
from receipt_contract.results import ExtractionStatus, PersistenceMode, RunEventV1
from receipt_runtime.amqp.publisher import Publisher
from receipt_worker import cache, locks
from receipt_worker.events import Schema
from receipt_worker.process import AnyWork
from receipt_worker.settings import ReadingSettings
from tests.integration.worker.desk import Desk
from tests.integration.worker.volume import (
    REFERENCE,
    Volume,
    request_id,
    small_disk,
    v1,
    v2,
    v3,
)
from tests.support.amqp import eventually
from tests.support.receipts import small_receipt

pytestmark = pytest.mark.services

OTHER = "2024/other/copy.png"
FULL_DISK_BYTES = 4096


def test_a_receipt_becomes_a_run_event_with_what_is_printed_on_it(
    desk: Desk, volume: Volume
) -> None:
    printed = small_receipt(3)

    run = desk.answer(v1(volume.put_receipt(3)))

    receipt = run.payload.receipt
    assert receipt.extraction_status is ExtractionStatus.COMPLETE
    read = {name: field.value for name, field in receipt.found.items()}
    assert (read["merchant_name"], read["transaction_date"], read["total"]) == (
        printed.merchant,
        printed.day,
        printed.total,
    )
    assert receipt.total is not None
    assert receipt.total.evidence
    assert receipt.total.box is not None
    middle = receipt.total.box.y + receipt.total.box.height / 2
    [beside] = [
        line.text
        for page in run.payload.pages
        for line in page.lines
        if line.box.y < middle < line.box.y + line.box.height
    ]
    assert str(printed.total) in beside


@pytest.mark.parametrize(
    ("make", "mode", "request_of"),
    [
        pytest.param(v1, PersistenceMode.NORMAL, None, id="v1 is normal and has no request"),
        pytest.param(v2, PersistenceMode.REPROCESS, request_id(), id="v2 replaces the extraction"),
        pytest.param(v3, PersistenceMode.CACHE_ONLY, request_id(), id="v3 keeps the extraction"),
    ],
)
def test_the_version_of_the_work_decides_what_the_collector_does(
    desk: Desk,
    volume: Volume,
    make: Callable[[str], AnyWork],
    mode: PersistenceMode,
    request_of: str | None,
) -> None:
    run = desk.answer(make(volume.put_receipt()))

    assert (run.payload.persistence_mode, run.payload.request_id) == (mode, request_of)


def test_the_artifact_of_an_event_has_the_bytes_of_the_cache_file(
    desk: Desk, volume: Volume
) -> None:
    run = desk.answer(v1(volume.put_receipt()))

    [artifact] = run.artifacts
    name = cache.artifact_name(artifact.sha256)
    assert artifact.uri == f"pvc://some-claim/{name}"
    kept = (volume.cache / name).read_bytes()
    assert (len(kept), kept) == (
        artifact.size_bytes,
        (volume.cache / f"{REFERENCE}.json").read_bytes(),
    )


@pytest.mark.parametrize("make", [v2, v3])
def test_g2_a_redelivered_request_is_told_again_and_not_read_again(
    desk: Desk, volume: Volume, make: Callable[[str], AnyWork]
) -> None:
    work = make(volume.put_receipt())
    first = desk.answer(work)

    again = desk.answer(work)

    assert again == first
    assert len(volume.artifacts()) == 1


def test_g2_two_references_with_the_same_bytes_are_one_reading_and_two_answers(
    desk: Desk, volume: Volume
) -> None:
    sha = volume.put_receipt()
    volume.put_receipt(reference=OTHER)
    first = desk.answer(v3(sha))

    second = desk.answer(v3(sha, OTHER))

    assert second.run_uuid == first.run_uuid
    assert second.source_reference == OTHER
    assert (volume.cache / f"{OTHER}.json").read_bytes() == (
        volume.cache / f"{REFERENCE}.json"
    ).read_bytes()


def test_v1_takes_the_cache_that_a_request_made(desk: Desk, volume: Volume) -> None:
    sha = volume.put_receipt()
    made = desk.answer(v2(sha))

    found = desk.answer(v1(sha))

    assert found.run_uuid == made.run_uuid
    assert found.message_id != made.message_id  # an event of its own, so both get completed


@pytest.mark.parametrize("make", [v2, v3])
def test_a_request_reads_again_what_others_have_read(
    desk: Desk, volume: Volume, make: Callable[..., AnyWork]
) -> None:
    sha = volume.put_receipt()
    before = {desk.answer(v1(sha)).run_uuid, desk.answer(make(sha, request=1)).run_uuid}

    fresh = desk.answer(make(sha, request=2))

    assert fresh.run_uuid not in before


def test_a_request_reads_again_when_its_artifact_was_pruned(desk: Desk, volume: Volume) -> None:
    sha = volume.put_receipt()
    first = desk.answer(v2(sha))
    shutil.rmtree(volume.cache / cache.ARTIFACTS)

    assert desk.answer(v2(sha)).run_uuid != first.run_uuid


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda text: text[: len(text) // 2], id="cut off"),
        pytest.param(lambda _: '{"metadata": {"cache_version": 13}}', id="of an earlier layout"),
        pytest.param(lambda text: text.replace(sha_of(text), "0" * 64), id="of other bytes"),
    ],
)
def test_v1_reads_again_what_its_cache_cannot_tell(
    desk: Desk, volume: Volume, damage: Callable[[str], str]
) -> None:
    sha = volume.put_receipt()
    first = desk.answer(v1(sha))
    path = volume.cache / f"{REFERENCE}.json"
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")

    assert desk.answer(v1(sha)).run_uuid != first.run_uuid


def test_bytes_other_than_asked_for_are_refused_for_good(desk: Desk, volume: Volume) -> None:
    volume.put_receipt(1)
    work = v1(volume.put_receipt(2, reference=OTHER))

    with pytest.raises(PermanentError) as failure:
        desk.processor.work_on(work)

    assert failure.value.reason is Reason.SOURCE_CHANGED


def test_a_file_that_changes_while_it_is_read_is_refused_for_good(
    desk: Desk, volume: Volume, reading: ReadingSettings
) -> None:
    work = v1(volume.put_receipt(1))
    failures: list[PermanentError] = []

    def attempt() -> None:
        try:
            desk.processor.work_on(work)
        except PermanentError as failure:
            failures.append(failure)

    reader = threading.Thread(target=attempt)
    reader.start()
    eventually(lambda: list(reading.work_folder.glob("*/read-*")))
    volume.put_receipt(2)
    reader.join()

    assert [failure.reason for failure in failures] == [Reason.SOURCE_CHANGED]
    assert not volume.artifacts()


def test_g8_no_card_number_reaches_cache_or_events(desk: Desk, volume: Volume) -> None:
    rows = [
        Row("CORNER SHOP"),
        Row("Date: 05 Mar 2024"),
        Row("Tea", "3.00"),
        Row("TOTAL EUR", "3.00"),
        Row("VISA", "4556 7375 8689 9855"),
    ]
    sha = volume.put(paper.as_png(paper.draw(rows)))

    desk.processor.work_on(v1(sha))
    written = [results.encode(event).decode() for event in desk.events()]

    written += [path.read_text(encoding="utf-8") for path in volume.cache.rglob("*.json")]
    assert "9855" in written[0]  # so the line was read
    for hidden in ("4556 7", "7375 8", "8689 9", "4556737", "7375868", "8689985"):
        assert [text for text in written if hidden in text] == []


def test_a_worker_set_to_schema_1_is_understood_by_older_collectors(
    desk: Desk, volume: Volume
) -> None:
    processor = replace(desk.processor, schema=Schema.MAIN_FIELDS)

    processor.work_on(v1(volume.put_receipt(3)))
    run = desk.events()[0]

    assert isinstance(run, RunEventV1)
    assert run.payload.receipt.total == small_receipt(3).total


def test_a_missing_file_is_refused_while_its_root_stands(desk: Desk, volume: Volume) -> None:
    work = v1(volume.put_receipt())
    volume.put_receipt(reference=OTHER)
    (volume.receipts / REFERENCE).unlink()

    with pytest.raises(PermanentError) as failure:
        desk.processor.work_on(work)

    assert failure.value.reason is Reason.SOURCE_MISSING


def test_an_empty_root_is_an_outage_and_not_a_missing_file(desk: Desk, volume: Volume) -> None:
    work = v1(volume.put_receipt())
    shutil.rmtree(volume.receipts)
    volume.receipts.mkdir()

    with pytest.raises(OutageError) as failure:
        desk.processor.work_on(work)

    assert failure.value.reason is Reason.SOURCE_UNAVAILABLE


def test_a_link_out_of_the_root_is_refused(desk: Desk, volume: Volume) -> None:
    sha = volume.put_receipt(reference="real.png")
    secret = volume.cache / "outside.png"
    secret.write_bytes((volume.receipts / "real.png").read_bytes())
    (volume.receipts / "link.png").symlink_to(secret)

    with pytest.raises(PermanentError) as failure:
        desk.processor.work_on(v1(sha, "link.png"))

    assert failure.value.reason is Reason.UNSAFE_REFERENCE


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param(f"{'n' * 251}.png", id="the longest file name leaves no room for its ending"),
        pytest.param("first.png.json/inner.png", id="a folder named like another's cache file"),
    ],
)
def test_g6_a_receipt_that_no_cache_file_can_be_named_after_holds_up_no_other(
    desk: Desk, volume: Volume, reference: str
) -> None:
    desk.answer(v1(volume.put_receipt(1, "first.png"), "first.png"))
    sha = volume.put_receipt(2, reference)

    for work in (v1(sha, reference), v2(sha, reference)):
        with pytest.raises(PermanentError) as failure:
            desk.processor.work_on(work)
        assert failure.value.reason is Reason.UNSAFE_REFERENCE

    assert desk.answer(v1(volume.put_receipt(3)))
    assert not volume.leftovers()


def test_a_cache_root_without_its_mark_is_an_outage_and_stays_empty(
    desk: Desk, volume: Volume
) -> None:
    work = v1(volume.put_receipt())
    shutil.rmtree(volume.cache)
    volume.cache.mkdir()

    with pytest.raises(OutageError) as failure:
        desk.processor.work_on(work)

    assert failure.value.reason is Reason.CACHE_UNAVAILABLE
    assert not list(volume.cache.iterdir())


def test_a_receipt_that_another_worker_holds_is_waited_for(desk: Desk, volume: Volume) -> None:
    sha = volume.put_receipt()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with locks.source_lock(volume.cache, sha, wait=0):
            held.set()
            release.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    try:
        with pytest.raises(OutageError) as failure:
            desk.processor.work_on(v1(sha))
    finally:
        release.set()
        holder.join()

    assert failure.value.reason is Reason.LOCK_WAIT
    assert desk.answer(v1(sha))


def test_g2_what_was_read_during_an_outage_of_the_broker_is_told_when_it_is_back(
    desk: Desk, volume: Volume, url: str
) -> None:
    work = v2(volume.put_receipt())
    silent = Publisher(url, name="never-started")
    silent.close()
    with pytest.raises(OutageError) as failure:
        replace(desk.processor, publisher=silent).work_on(work)

    run = desk.answer(work)

    assert failure.value.reason is Reason.BROKER_UNAVAILABLE
    assert run.artifacts[0].sha256 == volume.artifacts()[0].stem
    assert len(volume.artifacts()) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", Reason.EMPTY_FILE, id="no bytes"),
        pytest.param(b"just text", Reason.UNSUPPORTED_TYPE, id="neither PDF nor image"),
        pytest.param(b"%PDF-1.7\n", Reason.CORRUPT, id="a PDF's first line"),
    ],
)
def test_a_bad_file_is_refused_with_its_reason_and_leaves_no_cache(
    desk: Desk, volume: Volume, content: bytes, reason: Reason
) -> None:
    work = v1(volume.put(content))

    with pytest.raises(PermanentError) as failure:
        desk.processor.work_on(work)

    assert failure.value.reason is reason
    assert not volume.artifacts()
    assert not desk.events()


def test_a_full_cache_is_an_outage_and_the_receipt_is_answered_once_there_is_room(
    desk: Desk, volume: Volume
) -> None:
    work = v2(volume.put_receipt())
    with small_disk(volume.cache, FULL_DISK_BYTES):
        cache.leave_mark(volume.cache)
        with pytest.raises(OutageError) as failure:
            desk.processor.work_on(work)
        left = [*volume.artifacts(), *volume.leftovers()]

    assert failure.value.reason is Reason.NO_SPACE
    assert not left
    assert desk.answer(work)


def test_nothing_unfinished_is_left_in_the_cache(desk: Desk, volume: Volume) -> None:
    desk.answer(v2(volume.put_receipt()))

    assert not volume.leftovers()


def sha_of(text: str) -> str:
    """Return the source's hash in a cache document."""
    return str(json.loads(text)["metadata"]["source_sha256"])
