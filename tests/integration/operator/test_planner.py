"""Planning on real folders and a real register: whole or not yet, never too little."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from receipt_contract import cachefiles
from receipt_contract.status import ConditionReason
from receipt_operator.board import Board
from receipt_operator.observed import Observed
from receipt_operator.plan import CHUNK, CONCURRENT_WALKS, Planner
from receipt_operator.register import requests
from receipt_operator.register.rows import Ending, RequestState
from tests.integration.operator import volumes
from tests.integration.operator.desk import Desk, eventually
from tests.support.facts import make_observed, make_wanted
from tests.support.requests import for_reference, for_selector

pytestmark = pytest.mark.services


@dataclass
class Office:
    """A desk with two volumes and planners on them."""

    desk: Desk
    board: Board
    receipts: Path
    cache: Path
    planner: Planner

    async def begin(self, **spec: Any) -> str:
        """Claim a request and begin to plan it; return its id."""
        observed = make_observed(spec)
        request_id = await self.desk.claim(observed)
        await self.go_on(observed)
        return request_id

    async def go_on(self, observed: Observed) -> None:
        want = make_wanted(observed)
        self.planner.begin(await self.desk.one(want.request_id), want.spec)

    async def restart(self) -> None:
        """Stop planning, as when the operator ends, and go on with another planner."""
        await self.planner.close()
        self.planner = self._planner()

    def _planner(self) -> Planner:
        return Planner(
            self.desk.database, self.board, receipts_root=self.receipts, cache_root=self.cache
        )

    async def whole(self, request_id: str) -> list[str]:
        """Wait until a request is planned; return its references."""
        await eventually(lambda: self.state(request_id) is not RequestState.PLANNING)
        return list(self.desk.states(request_id))

    async def stopped_by(self, request_id: str) -> ConditionReason:
        """Wait until something keeps a plan from going on; return what."""
        await eventually(lambda: self.board.obstacle(request_id))
        obstacle = self.board.obstacle(request_id)
        assert obstacle is not None
        return obstacle.reason

    def state(self, request_id: str) -> RequestState:
        row = self.desk.books.row(
            "SELECT state FROM work.requests WHERE request_id = %s", request_id
        )
        return RequestState(row["state"])


@pytest.fixture
async def office(desk: Desk, tmp_path: Path) -> AsyncIterator[Office]:
    """Give a planner over two empty volumes."""
    receipts, cache = tmp_path / "receipts", tmp_path / "cache"
    for volume in (receipts, cache):
        volume.mkdir()
    board = Board()
    planner = Planner(desk.database, board, receipts_root=receipts, cache_root=cache)
    opened = Office(desk, board, receipts, cache, planner)
    yield opened
    await opened.planner.close()


async def test_references_are_planned_without_looking_at_the_volume(office: Office) -> None:
    request_id = await office.begin(target={"references": ["b.png", "a.png", "c/d.png"]})

    assert await office.whole(request_id) == ["a.png", "b.png", "c/d.png"]
    request = await office.desk.one(request_id)
    assert request.total == 3
    assert request.accepted_at is not None


@pytest.mark.parametrize(
    ("fields", "planned"),
    [
        pytest.param({"cache": "Any"}, ["2025/a.pdf", "2026/a.png", "2026/b.pdf"], id="all"),
        pytest.param({"pathPrefix": "2026/"}, ["2026/a.png", "2026/b.pdf"], id="a folder"),
        pytest.param({"glob": "**/*.pdf"}, ["2025/a.pdf", "2026/b.pdf"], id="a pattern"),
        pytest.param({"pathPrefix": "2026/", "glob": "**/*.pdf"}, ["2026/b.pdf"], id="both"),
        pytest.param({"glob": "nowhere/*"}, [], id="nothing"),
        pytest.param({"extractionStatus": ["review"]}, [], id="nothing was read yet"),
    ],
)
async def test_a_selector_means_what_matches(
    office: Office, fields: dict[str, Any], planned: list[str]
) -> None:
    volumes.write(office.receipts, "2025/a.pdf", "2026/a.png", "2026/b.pdf", "2026/notes.txt")

    request_id = await office.begin(**for_selector(**fields))

    assert await office.whole(request_id) == planned
    assert (await office.desk.one(request_id)).total == len(planned)


@pytest.mark.parametrize("empty", [True, False], ids=["it is empty", "it is absent"])
async def test_g1_a_root_that_is_away_is_waited_for(office: Office, *, empty: bool) -> None:
    volumes.write(office.receipts, "a.png")
    kept = volumes.take_away(office.receipts, empty=empty)

    request_id = await office.begin(**for_selector(cache="Any"))
    reason = await office.stopped_by(request_id)
    meanwhile = office.state(request_id)
    volumes.bring_back(office.receipts, kept)

    assert reason is ConditionReason.SOURCE_UNAVAILABLE
    assert meanwhile is RequestState.PLANNING
    assert await office.whole(request_id) == ["a.png"]
    await eventually(lambda: office.board.obstacle(request_id) is None)


async def test_missing_caches_are_those_without_a_file(office: Office) -> None:
    volumes.write(office.receipts, "cached.png", "missing.png")
    volumes.write(office.cache, cachefiles.ROOT_MARK, cachefiles.current("cached.png"))

    request_id = await office.begin(**for_selector(cache="Missing"))

    assert await office.whole(request_id) == ["missing.png"]


async def test_a_cache_root_no_worker_ever_marked_is_an_empty_one(office: Office) -> None:
    volumes.write(office.receipts, "a.png")

    request_id = await office.begin(**for_selector(cache="Missing"))

    assert await office.whole(request_id) == ["a.png"]


async def test_g1_a_cache_root_that_lost_its_mark_is_waited_for(office: Office) -> None:
    volumes.write(office.receipts, "a.png", "b.png")
    volumes.write(office.cache, cachefiles.ROOT_MARK, cachefiles.current("a.png"))
    first = await office.begin(**for_selector(cache="Missing"), runId="one")
    await office.whole(first)
    kept = volumes.take_away(office.cache, empty=True)

    request_id = await office.begin(**for_selector(cache="Missing"), runId="two")
    reason = await office.stopped_by(request_id)
    volumes.bring_back(office.cache, kept)

    assert reason is ConditionReason.CACHE_UNAVAILABLE
    assert await office.whole(request_id) == ["b.png"]


@pytest.mark.parametrize(
    ("limit", "result"),
    [
        pytest.param(3, None, id="as many as allowed"),
        pytest.param(2, ConditionReason.SELECTOR_TOO_LARGE, id="one more than allowed"),
    ],
)
async def test_g7_more_than_max_items_is_refused_whole(
    office: Office, limit: int, result: ConditionReason | None
) -> None:
    volumes.write(office.receipts, "a.png", "b.png", "c.png")

    request_id = await office.begin(**for_selector(cache="Any"), maxItems=limit)

    planned = await office.whole(request_id)
    request = await office.desk.one(request_id)
    assert request.result is result
    assert request.total == 3
    assert len(planned) == (0 if result else 3)
    assert (request.accepted_at is None) is (result is not None)


async def test_g1_a_plan_that_was_cut_off_goes_on_behind_its_cursor(office: Office) -> None:
    names = [f"{number:05}.png" for number in range(CHUNK + 5)]
    volumes.write(office.receipts, *names)
    observed = make_observed(for_selector(cache="Any"))
    request_id = await office.desk.plan(*names[:CHUNK], observed=observed)

    await office.go_on(observed)

    assert await office.whole(request_id) == names
    assert (await office.desk.one(request_id)).total == len(names)


async def test_g1_named_receipts_too_are_planned_behind_the_cursor(office: Office) -> None:
    observed = make_observed({"target": {"references": ["a.png", "b.png", "c.png"]}})
    request_id = await office.desk.plan("a.png", "b.png", observed=observed)

    await office.go_on(observed)

    assert await office.whole(request_id) == ["a.png", "b.png", "c.png"]


async def test_g1_a_plan_that_is_cut_off_in_a_commit_is_planned_once(office: Office) -> None:
    names = [f"{number:05}.png" for number in range(2 * CHUNK + 5)]
    volumes.write(office.receipts, *names)
    observed = make_observed(for_selector(cache="Any"))
    request_id = await office.desk.claim(observed)

    with psycopg.connect(office.desk.books.url) as other:
        other.execute("LOCK TABLE work.items IN SHARE MODE")
        await office.go_on(observed)
        await eventually(lambda: office.desk.waiting_for_locks() == 1)
        await office.restart()
    nothing = office.desk.states(request_id)
    await office.go_on(observed)

    assert nothing == {}
    assert await office.whole(request_id) == names


async def test_what_is_named_does_not_wait_for_walks(office: Office) -> None:
    volumes.write(office.receipts, "a.png")
    with psycopg.connect(office.desk.books.url) as other:
        other.execute("LOCK TABLE budget.receipt_evidence IN ACCESS EXCLUSIVE MODE")
        for number in range(CONCURRENT_WALKS):
            await office.begin(**for_selector(extractionStatus=["review"]), runId=f"walk-{number}")
        await eventually(lambda: office.desk.waiting_for_locks() == CONCURRENT_WALKS)
        named = await office.begin(target={"reference": "a.png"})

        planned = await office.whole(named)

    assert planned == ["a.png"]


async def test_a_plan_is_begun_once_at_a_time(office: Office) -> None:
    volumes.write(office.receipts, "a.png")
    observed = make_observed(for_selector(cache="Any"))
    request_id = await office.desk.claim(observed)

    for _ in range(5):
        await office.go_on(observed)

    assert await office.whole(request_id) == ["a.png"]
    assert office.board.obstacle(request_id) is None


async def test_g4_a_request_that_is_ending_is_not_planned_on(office: Office) -> None:
    observed = make_observed({"target": {"references": ["a.png", "b.png"]}})
    request_id = await office.desk.plan("a.png", observed=observed)
    async with office.desk.database.write() as connection:
        await requests.begin_ending(connection, request_id, Ending.CANCELLED)

    await office.go_on(observed)
    await office.desk.finish(request_id, ConditionReason.CANCELLED)
    await office.restart()

    assert list(office.desk.states(request_id)) == ["a.png"]


async def test_a_retry_waits_for_the_run_it_looks_back_on(office: Office) -> None:
    first = await office.desk.accept(
        "bad.png", "good.png", observed=make_observed(for_selector(cache="Any") | {"runId": "one"})
    )
    office.desk.set_item(first, "bad.png", state="failed")
    office.desk.set_item(first, "good.png", state="done")

    request_id = await office.begin(target={"retryFailedOf": "one"}, runId="two")
    waiting = office.state(request_id)
    await office.desk.finish(first)

    assert waiting is RequestState.PLANNING
    assert await office.whole(request_id) == ["bad.png"]


async def test_g6_a_retry_of_an_unknown_run_is_refused(office: Office) -> None:
    request_id = await office.begin(target={"retryFailedOf": "never"}, runId="two")

    assert await office.whole(request_id) == []
    assert (await office.desk.one(request_id)).result is ConditionReason.INVALID_TARGET


async def test_a_fault_of_ours_is_shown_and_the_next_try_goes_on(office: Office) -> None:
    observed = make_observed({"target": {"references": ["a.png", "b.png"]}})
    request_id = await office.desk.claim(observed)
    # What no statement of ours does: an item stands where the cursor has not been.
    office.desk.books.looker.execute(
        "INSERT INTO work.items (request_id, reference, state) VALUES (%s, 'b.png', 'planned')",
        (request_id,),
    )

    await office.go_on(observed)
    reason = await office.stopped_by(request_id)
    office.desk.books.looker.execute("DELETE FROM work.items")
    await office.go_on(observed)

    assert reason is ConditionReason.INTERNAL_ERROR
    assert await office.whole(request_id) == ["a.png", "b.png"]
    await eventually(lambda: office.board.obstacle(request_id) is None)


@pytest.mark.parametrize(
    ("spec", "planned"),
    [
        pytest.param(for_reference("b.png"), ["b.png"], id="one receipt"),
        pytest.param(
            {"target": {"references": ["b.png", "a.png", "b.png"]}},
            ["a.png", "b.png"],
            id="several receipts",
        ),
        pytest.param(for_selector(pathPrefix="2024/"), [], id="a selector is left to a walk"),
        pytest.param(
            {"target": {"references": ["a.png", "b.png"]}, "maxItems": 1},
            [],
            id="too many are left to be refused",
        ),
    ],
)
async def test_what_is_named_is_planned_as_it_is_claimed(
    office: Office, spec: dict[str, Any], planned: list[str]
) -> None:
    want = make_wanted(make_observed(spec))
    await office.desk.claim(make_observed(spec))

    await office.planner.plan_named({want.request_id: want.spec})

    assert list(office.desk.states(want.request_id)) == planned
    assert office.state(want.request_id) is (
        RequestState.OPEN if planned else RequestState.PLANNING
    )
