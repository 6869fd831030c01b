"""The flow of the operator (read first): what is seen, what is decided, what is written.

    watch and lists -> objects, queue of keys -> reconcile in batches -> register, planner, mirror
    register, once a second -> endings -> publication -> statuses

Every loop can be cut off anywhere: what is true stands in the register, and the next look at it
goes on from there.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import structlog

from receipt_contract.errors import OutageError
from receipt_contract.requests import Kind
from receipt_contract.status import MAX_HISTORY
from receipt_operator import finishing, metrics, reconcile
from receipt_operator.board import Board, wait
from receipt_operator.cleaning import Cleaner
from receipt_operator.cluster import Cluster, ClusterError, GoneError
from receipt_operator.mirror import Mirror, Shown
from receipt_operator.observed import Objects, RewoundError, from_document
from receipt_operator.plan import Planner
from receipt_operator.publication import Publication
from receipt_operator.reconcile import Act, Brake, Decision, Wanted
from receipt_operator.recounting import Recounting
from receipt_operator.register import approvals, evidence, outgoing, requests
from receipt_operator.register.database import Connection, Database
from receipt_operator.register.rows import ObjectKey, Request, RequestState
from receipt_operator.settings import OperatorSettings
from receipt_operator.workqueue import WorkQueue

BATCH = 200  # objects reconciled with one reading of the register
MIRROR_SECONDS = 1.0
REST_SECONDS = 0.05  # for the database between two looks; as long as the look took, if that is more
PUBLISH_SECONDS = 1.0
CLEAN_SECONDS = 5.0
TOP_UP_SECONDS = 0.2  # while receipts wait for a place in the window
# A database that restarts is back within this; nobody has to hear of it.
DATABASE_SILENCE_SECONDS = 5.0

# A list of a namespace that is gone is empty; only that of an unknown kind is refused.
_NO_KINDS = (
    "The two kinds are not defined in this cluster: apply crds/, or set crds.install in the chart."
)

_log = structlog.get_logger(__name__)


class Controller:
    """Ties the loops together; holds no truth of its own."""

    def __init__(  # noqa: PLR0913 - the parts of the operator
        self,
        settings: OperatorSettings,
        database: Database,
        cluster: Cluster,
        *,
        objects: Objects,
        queue: WorkQueue,
        board: Board,
        planner: Planner,
        publication: Publication,
        mirror: Mirror,
        cleaner: Cleaner,
        brake: Brake | None,
    ) -> None:
        """Take the parts; nothing runs yet."""
        self._settings = settings
        self._database = database
        self._cluster = cluster
        self._objects = objects
        self._queue = queue
        self._board = board
        self._planner = planner
        self._publication = publication
        self._mirror = mirror
        self._cleaner = cleaner
        self._brake = brake
        self._recounting = Recounting(database)
        self.some_listed = asyncio.Event()  # so the cluster knows our kinds
        self._listed: set[str] = set()  # namespaces
        self._caught_up: set[str] = set()  # of which every object was reconciled since
        self._some_caught_up = asyncio.Event()
        self._database_seen_at = time.monotonic()

    def saw(self, kind: Kind, event: Mapping[str, Any]) -> None:
        """Take in one event of the watch."""
        observed = from_document({**event["object"], "kind": kind.value})
        if event["type"] == "DELETED":
            self._objects.drop(observed.key)
        else:
            known = self._objects.get(observed.key)
            self._objects.put(observed)
            if known and replace(known, resource_version=observed.resource_version) == observed:
                return  # an echo of our own write, or a label that means nothing here
        self._queue.add([observed.key])

    async def sweep(self) -> bool:
        """List everything, so that what the watch missed is seen, also what is gone.

        A namespace that cannot be listed, because it or our rights in it are gone, holds up no
        other. Tells whether all were listed; raises ClusterError when none was, RewoundError when
        the cluster is older than it was.
        """
        seen: list[ObjectKey] = []
        failures: list[ClusterError] = []
        for namespace in self._settings.namespaces:
            try:
                seen += await self._list(namespace)
            except ClusterError as error:
                failures.append(error)
                sentence = _NO_KINDS if isinstance(error, GoneError) else str(error)
                _log.warning("a namespace is not listed", namespace=namespace, sentence=sentence)
            else:
                self._listed.add(namespace)
                self.some_listed.set()
        if len(failures) == len(self._settings.namespaces):
            raise failures[0]
        active, _ = await self._active()
        self._queue.add(seen)
        # Where nothing was ever listed, a request without an object is no sign that it is gone.
        self._queue.add(one.key for one in active if one.key.namespace in self._listed)
        self._note_caught_up()
        return not failures

    async def _list(self, namespace: str) -> list[ObjectKey]:
        seen: list[ObjectKey] = []
        for kind in Kind:
            began, newest = self._objects.moment(), self._objects.newest(kind, namespace)
            listing = await self._cluster.list_objects(kind, namespace)
            if listing.version < newest:
                raise RewoundError
            seen += self._objects.replace(kind, namespace, listing.objects, began=began)
        return seen

    async def reconcile_some(self) -> None:
        """Take a batch of keys and bring the register in line with their objects."""
        keys = await self._queue.take(BATCH)
        metrics.QUEUED.set(len(self._queue))
        try:
            not_shown = await self._reconcile(keys)
        except OutageError:
            self._queue.add(keys)  # says nothing about the objects; the loop itself pauses
            raise
        except Exception:
            for key in keys:
                self._queue.failed(key)
            await self._mirror.show_stuck(keys, datetime.now(UTC))
            raise
        for key in set(keys) - not_shown:
            self._queue.succeeded(key)
        self._note_caught_up()

    def _note_caught_up(self) -> None:
        if self._listed and not len(self._queue):
            self._caught_up |= self._listed
            self._some_caught_up.set()

    async def mirror_once(self) -> None:
        """Look at every active request: end what is due, show what has changed."""
        await wait(self._board.mirror, MIRROR_SECONDS)
        began = time.monotonic()
        try:
            active, now = await self._active()
            if await self._recounting.keep([request.request_id for request in active]):
                active, now = await self._active()
            last_result = await evidence.latest_result(self._database)
            changed = await finishing.advance(
                self._database,
                active,
                now,
                settle_grace_seconds=self._settings.settle_grace_seconds,
            )
        except OutageError:
            if time.monotonic() - self._database_seen_at > DATABASE_SILENCE_SECONDS:
                await self._mirror.refresh_without_database(datetime.now(UTC))
            raise
        self._database_seen_at = time.monotonic()
        metrics.ACTIVE.set(len(active))
        metrics.WAITING.set(sum(request.counts.planned for request in active))
        metrics.IN_FLIGHT.set(sum(request.counts.in_flight for request in active))
        ended = set(changed)
        self._queue.add(request.key for request in active if request.request_id in ended)
        going = [request for request in active if request.request_id not in ended]
        rested_at = time.monotonic() + max(REST_SECONDS, time.monotonic() - began)
        await self._mirror.refresh(going, now, last_result=last_result)
        if any(request.publishable and request.counts.unsent for request in active):
            self._board.publish.set()
        await asyncio.sleep(rested_at - time.monotonic())

    async def clean_once(self) -> None:
        """Delete objects that have been finished for as long as they asked for."""
        await asyncio.sleep(CLEAN_SECONDS)
        await self._cleaner.round(self._mirror.finished(), datetime.now(UTC))

    async def publish_once(self) -> None:
        """Send what may be sent, once it is known what is still asked for."""
        await self._some_caught_up.wait()
        read = outgoing.everything if self._publication.is_evidence_due else outgoing.unsent
        offer = await read(
            self._database,
            cluster=self._settings.cluster,
            namespaces=sorted(self._caught_up),
        )
        await self._publication.round(offer)
        waiting = any(one.counts.planned for one in offer.requests)
        await wait(self._board.publish, TOP_UP_SECONDS if waiting else PUBLISH_SECONDS)

    async def _active(self) -> tuple[list[Request], datetime]:
        return await requests.active(
            self._database,
            cluster=self._settings.cluster,
            namespaces=self._settings.namespaces,
        )

    async def _reconcile(self, keys: Sequence[ObjectKey]) -> set[ObjectKey]:
        """Return those that were taken in but could not be shown; they are queued again."""
        cluster = self._settings.cluster
        wants = self._wants(keys)
        # Judged now: an object that comes while we wait below was not looked at yet.
        unreadable = [
            observed
            for key in keys
            if key not in wants and (observed := self._objects.get(key)) is not None
        ]
        now = datetime.now(UTC)
        request_ids = [want.request_id for want in wants.values()]
        rows = await requests.of_objects(
            self._database, cluster=cluster, keys=keys, request_ids=request_ids
        )
        orphans = [row.request_id for row in rows if row.key not in wants and row.goes_on]
        writing = [one for one in self._decide(wants, rows, now) if one.writes]
        if orphans or writing:
            await self._carry_out(orphans, writing)
            specs = {want.request_id: want.spec for want in wants.values()}
            claimed = [one.claim.request_id for one in writing if one.act is Act.CLAIM]
            await self._planner.plan_named({one: specs[one] for one in claimed})
            rows = await requests.of_objects(
                self._database, cluster=cluster, keys=(), request_ids=request_ids
            )
        not_shown = await self._show(wants, rows, now)
        return not_shown | await self._mirror.refuse(unreadable, now)

    def _wants(self, keys: Sequence[ObjectKey]) -> dict[ObjectKey, Wanted]:
        wants = {}
        for key in keys:
            observed = self._objects.get(key)
            if observed is None:
                self._mirror.forget(key)
                continue
            want = reconcile.wanted(observed, self._settings.cluster, paused=self._settings.paused)
            if want is not None:
                wants[key] = want
        return wants

    def _decide(
        self, wants: Mapping[ObjectKey, Wanted], rows: Sequence[Request], now: datetime
    ) -> list[Decision]:
        by_key: dict[ObjectKey, list[Request]] = {key: [] for key in wants}
        for row in rows:
            by_key.setdefault(row.key, []).append(row)
        return [
            reconcile.decide(observed, want, by_key[key], now)
            for key, want in wants.items()
            if (observed := self._objects.get(key)) is not None
        ]

    async def _carry_out(self, orphans: Sequence[str], decisions: Sequence[Decision]) -> None:
        async with self._database.write() as connection:
            braked = await self._braked(connection, decisions)
            parked = [request_id for one in braked for request_id in one.park]
            await requests.park(connection, [*orphans, *parked])
            await requests.claim(connection, [one.claim for one in braked if one.act is Act.CLAIM])
            for decision in braked:
                request_id = decision.claim.request_id
                if decision.frozen is not None:
                    await requests.adopt(connection, decision.claim, decision.frozen)
                if decision.knobs is not None:
                    await requests.follow(connection, request_id, decision.knobs)
            approved = [one.claim.request_id for one in braked if one.approve]
            await approvals.approve(connection, approved)
            unparked = [request_id for one in braked for request_id in one.unpark]
            await requests.unpark(connection, unparked)

    async def _braked(
        self, connection: Connection, decisions: Sequence[Decision]
    ) -> Sequence[Decision]:
        """Let new requests wait for approval where the register was new and enough have begun."""
        fence = self._database.fence
        if self._brake is None or fence is None:
            return decisions
        begun = await approvals.count_begun(connection, fence)
        braked = []
        for decision in decisions:
            braked.append(reconcile.braked(decision, self._brake, begun))
            begun += decision.act is Act.CLAIM and not braked[-1].claim.awaiting_approval
        return braked

    async def _show(
        self, wants: Mapping[ObjectKey, Wanted], rows: Sequence[Request], now: datetime
    ) -> set[ObjectKey]:
        """Plan what is not planned, and write the statuses."""
        if not wants:
            return set()
        by_id = {row.request_id: row for row in rows}
        histories = await requests.histories(
            self._database,
            cluster=self._settings.cluster,
            keys=list(wants),
            limit=MAX_HISTORY + 1,
        )
        shown = {}
        for key, want in wants.items():
            request = by_id.get(want.request_id)
            if request is None:
                continue
            if request.state is RequestState.PLANNING and not request.awaiting_approval:
                self._planner.begin(request, want.spec)
            shown[key] = Shown(want, request, histories[key])
        self._board.publish.set()
        for key in shown:
            self._queue.taken_in(key)
        not_shown = await self._mirror.show(shown, now)
        if not all(one.request.is_about_to_send for one in shown.values()):
            self._board.mirror.set()
        return not_shown
