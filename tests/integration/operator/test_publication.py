"""Sending on a real broker: every outcome, and what the register says after it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from dev.rabbitmq import RabbitMQ
from receipt_contract.requests import Kind
from receipt_contract.status import ConditionReason
from receipt_operator.publication import Publication
from receipt_operator.register import requests
from receipt_operator.register.rows import Knobs
from tests.integration.operator import volumes
from tests.integration.operator.desk import Desk, eventually
from tests.integration.operator.post import (
    LIMITS,
    Post,
    ids_by_reference,
    references_of,
    send_round,
    whole,
)
from tests.support.facts import KEY, make_observed
from tests.support.requests import with_field
from tests.support.results import make_run

pytestmark = pytest.mark.services

REBUILD = KEY._replace(kind=Kind.CACHE_REBUILD)


async def _until_all_are_published(desk: Desk, publication: Publication, count: int) -> None:
    async with asyncio.timeout(120):
        while (await desk.active())[0].counts.published < count:
            await send_round(desk, publication)


async def test_a_request_is_sent_with_what_its_workers_need(
    desk: Desk, post: Post, root: Path
) -> None:
    request_id = await desk.accept(*volumes.write(root, "a.png"))
    await post.connected()

    await send_round(desk, post.publication(desk, root))

    item = desk.item(request_id, "a.png")
    [message] = post.take_all()
    assert message == {
        "version": 2,
        "attempt": 1,
        "source_reference": "a.png",
        "source_sha256": volumes.sha_of("a.png"),
        "request_id": request_id,
        "id": message["id"],
        "type": "receipt.reprocess.v2",
    }
    assert (item["state"], item["publications"]) == ("published", 1)
    assert item["source_sha256"] == volumes.sha_of("a.png")
    assert post.board.obstacle(request_id) is None


async def test_a_cache_rebuild_sends_only_what_was_read_before(
    desk: Desk, post: Post, root: Path
) -> None:
    known, new = volumes.write(root, "known.png", "new.png")
    event = make_run(at=known)
    desk.books.apply(event.model_copy(update={"source_sha256": volumes.sha_of(known)}))
    request_id = await desk.accept(known, new, observed=make_observed(key=REBUILD))
    await post.connected()

    await send_round(desk, post.publication(desk, root))

    [message] = post.take_all()
    assert (message["type"], message["source_reference"]) == ("receipt.cache-rebuild.v3", known)
    assert desk.states(request_id) == {known: "published", new: "skipped"}
    assert desk.item(request_id, new)["reason"] == "never_processed"


async def test_g7_the_window_is_filled_and_filled_again(desk: Desk, post: Post, root: Path) -> None:
    two_at_a_time = make_observed(with_field(maxInFlight=2))
    request_id = await desk.accept(*volumes.write_numbered(root, 5), observed=two_at_a_time)
    publication = post.publication(desk, root)
    await post.connected()

    await send_round(desk, publication)
    await send_round(desk, publication)
    full = await desk.counts(request_id)
    desk.set_item(request_id, "000.png", state="done")
    await send_round(desk, publication)

    assert full.in_flight == 2
    assert references_of(post.take_all()) == {"000.png": 1, "001.png": 1, "002.png": 1}


async def test_g7_the_window_of_all_is_shared(desk: Desk, post: Post, root: Path) -> None:
    names = volumes.write_numbered(root, 5)
    first = await desk.accept(*names)
    second = await desk.accept(*names, observed=make_observed(with_field(runId="two")))
    await post.connected()

    await send_round(desk, post.publication(desk, root, replace(LIMITS, global_in_flight=4)))

    assert (await desk.counts(first)).in_flight == 2
    assert (await desk.counts(second)).in_flight == 2


@pytest.mark.parametrize("stop", ["suspended", "parked", "dry run"])
async def test_what_was_stopped_since_it_was_read_is_not_sent(
    desk: Desk, post: Post, root: Path, stop: str
) -> None:
    observed = make_observed(with_field(dryRun=True)) if stop == "dry run" else None
    request_id = await desk.accept(*volumes.write(root, "a.png"), observed=observed)
    active = await desk.active()
    async with desk.database.write() as connection:
        if stop == "suspended":
            await requests.follow(connection, request_id, Knobs(suspend=True))
        if stop == "parked":
            await requests.park(connection, [request_id])
    await post.connected()

    await post.publication(desk, root).round(whole(active))

    assert desk.states(request_id) == {"a.png": "planned"}
    assert post.take_all() == []


async def test_what_nothing_routes_is_taken_back_and_shown(
    desk: Desk, post: Post, root: Path
) -> None:
    names = volumes.write_numbered(root, 3)
    request_id = await desk.accept(*names)
    await post.connected()
    post.use_passive_publisher()
    await post.connected()
    publication = post.publication(desk, root)
    post.unbind()

    await send_round(desk, publication)
    stopped = post.board.obstacle(request_id)
    taken_back = desk.states(request_id)
    post.bind()
    await send_round(desk, publication)

    assert stopped is not None
    assert stopped.reason is ConditionReason.UNROUTABLE
    assert set(taken_back.values()) == {"planned"}
    assert set(desk.states(request_id).values()) == {"published"}
    assert post.board.obstacle(request_id) is None
    assert references_of(post.take_all()) == dict.fromkeys(names, 1)


async def test_g1_a_lost_binding_is_declared_again_by_itself(
    desk: Desk, post: Post, root: Path
) -> None:
    names = volumes.write_numbered(root, 3)
    request_id = await desk.accept(*names)
    await post.connected()
    post.unbind()

    await _until_all_are_published(desk, post.publication(desk, root), 3)

    assert post.board.obstacle(request_id) is None
    assert references_of(post.take_all()) == dict.fromkeys(names, 1)


async def test_a_full_queue_is_shown_and_what_it_refused_is_sent_later(
    desk: Desk, post: Post, root: Path
) -> None:
    names = volumes.write_numbered(root, 60)
    request_id = await desk.accept(*names)
    await post.connected()
    publication = post.publication(desk, root)
    post.limit(3)

    # A quorum queue learns of its limit a moment late; it has refused something after some rounds.
    async with asyncio.timeout(60):
        while (stopped := post.board.obstacle(request_id)) is None:
            await send_round(desk, publication)
            assert not (await desk.counts(request_id)).publishing
    messages = post.take_all()
    refused = await desk.counts(request_id)
    post.unlimit()
    await _until_all_are_published(desk, publication, 60)

    assert stopped.reason is ConditionReason.QUEUE_FULL
    assert refused.planned == 60 - len(messages)
    assert refused.published == len(messages)
    assert post.board.obstacle(request_id) is None
    assert references_of(messages + post.take_all()) == dict.fromkeys(names, 1)


async def test_g1_a_broker_that_dies_in_mid_batch_loses_nothing(
    desk: Desk, post: Post, root: Path, rabbitmq_server: RabbitMQ
) -> None:
    names = volumes.write_numbered(root, 400)
    request_id = await desk.accept(*names, observed=make_observed(with_field(maxInFlight=400)))
    await post.connected()
    publication = post.publication(desk, root)

    rounds = asyncio.create_task(send_round(desk, publication))
    await eventually(lambda: post.waiting() > 0)
    await asyncio.to_thread(rabbitmq_server.kill)
    try:
        await rounds
        async with asyncio.timeout(60):
            while (stopped := post.board.obstacle(request_id)) is None:
                await send_round(desk, publication)
        in_doubt = await desk.counts(request_id)
    finally:
        await asyncio.to_thread(rabbitmq_server.start)
    await post.connected()
    await _until_all_are_published(desk, publication, 400)

    messages = post.take_all()
    assert stopped.reason is ConditionReason.BROKER_UNAVAILABLE
    assert in_doubt.planned + in_doubt.publishing + in_doubt.published == 400
    assert set(references_of(messages)) == set(names)
    assert all(len(ids) == 1 for ids in ids_by_reference(messages).values())
    assert len({message["id"] for message in messages}) == 400
    assert post.board.obstacle(request_id) is None


async def test_g1_what_was_in_doubt_is_sent_again_as_it_was(
    desk: Desk, post: Post, root: Path
) -> None:
    volumes.write(root, "other.png")  # the file itself has changed or gone since
    request_id = await desk.accept("a.png")
    desk.set_item(
        request_id,
        "a.png",
        state="publishing",
        source_sha256=volumes.sha_of("a.png"),
        published_at="-1 h",
    )
    await post.connected()

    await send_round(desk, post.publication(desk, root))

    [message] = post.take_all()
    assert message["source_sha256"] == volumes.sha_of("a.png")
    assert desk.states(request_id) == {"a.png": "published"}


async def test_a_result_that_came_before_the_confirm_stays(
    desk: Desk, post: Post, root: Path
) -> None:
    request_id = await desk.accept("a.png")
    desk.set_item(request_id, "a.png", state="publishing", source_sha256=volumes.sha_of("a.png"))
    await post.connected()
    publication = post.publication(desk, root)
    active = await desk.active()
    desk.set_item(request_id, "a.png", state="done")

    await publication.round(whole(active))

    assert desk.states(request_id) == {"a.png": "done"}
    assert post.take_all() == []


async def test_an_obstacle_ends_with_the_first_round_that_meets_none(
    desk: Desk, post: Post, root: Path
) -> None:
    full = make_observed(with_field(maxInFlight=1))
    request_id = await desk.accept(*volumes.write_numbered(root, 2), observed=full)
    publication = post.publication(desk, root)
    await post.connected()
    await send_round(desk, publication)
    post.board.block(request_id, ConditionReason.BROKER_UNAVAILABLE)

    await send_round(desk, publication)

    assert post.board.obstacle(request_id) is None


async def test_g6_a_missing_file_fails_alone_after_its_grace(
    desk: Desk, post: Post, root: Path
) -> None:
    request_id = await desk.accept(*volumes.write(root, "there.png"), "missing.png")
    await post.connected()
    patient = post.publication(desk, root, replace(LIMITS, missing_grace_seconds=3600))

    await send_round(desk, patient)
    within = desk.states(request_id)
    impatient = post.publication(desk, root)
    await send_round(desk, impatient)

    assert within == {"there.png": "published", "missing.png": "planned"}
    assert desk.item(request_id, "missing.png")["reason"] == "source_missing"
    assert references_of(post.take_all()) == {"there.png": 1}


async def test_g6_a_link_out_of_the_root_fails_alone(
    desk: Desk, post: Post, root: Path, tmp_path: Path
) -> None:
    volumes.write(root, "there.png")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    request_id = await desk.accept("link.png", "there.png")
    await post.connected()

    await send_round(desk, post.publication(desk, root))

    assert desk.item(request_id, "link.png")["reason"] == "unsafe_reference"
    assert desk.item(request_id, "there.png")["state"] == "published"


@pytest.mark.parametrize("empty", [True, False], ids=["it is empty", "it is absent"])
async def test_g1_a_root_that_is_away_ends_nothing_and_is_waited_for(
    desk: Desk, post: Post, root: Path, *, empty: bool
) -> None:
    names = volumes.write_numbered(root, 3)
    request_id = await desk.accept(*names)
    publication = post.publication(desk, root)
    await post.connected()
    away = volumes.take_away(root, empty=empty)

    await send_round(desk, publication)
    stopped = post.board.obstacle(request_id)
    meanwhile = desk.states(request_id)
    volumes.bring_back(root, away)
    await send_round(desk, publication)

    assert stopped is not None
    assert stopped.reason is ConditionReason.SOURCE_UNAVAILABLE
    assert set(meanwhile.values()) == {"planned"}
    assert post.board.obstacle(request_id) is None
    assert references_of(post.take_all()) == dict.fromkeys(names, 1)
