"""`receipt-operator`: composes the parts, holds the lease, keeps the loops turning."""

import asyncio
import gc
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import structlog
import uvloop
from aiolimiter import AsyncLimiter

from receipt_contract.access import BrokerUser
from receipt_contract.errors import OutageError
from receipt_operator import handlers, health, metrics
from receipt_operator.board import Board, wait
from receipt_operator.cleaning import DELETIONS_PER_SECOND, Cleaner, Retention
from receipt_operator.cluster import Cluster, ClusterError, connect
from receipt_operator.controller import Controller
from receipt_operator.health import Pulse
from receipt_operator.herald import Herald
from receipt_operator.mirror import Mirror
from receipt_operator.observed import Objects, RewoundError
from receipt_operator.plan import Planner
from receipt_operator.publication import Limits, Publication
from receipt_operator.reconcile import Brake
from receipt_operator.register import approvals, leases
from receipt_operator.register.database import Database, Fence, LeaseLostError
from receipt_operator.settings import OperatorSettings
from receipt_operator.turns import Places
from receipt_operator.workqueue import WorkQueue
from receipt_runtime import backoff, logs, shutdown
from receipt_runtime.amqp.publisher import Publisher
from receipt_runtime.health import HealthServer
from receipt_runtime.settings import SettingsError, answer_help, read

WINDOW = 500  # three quarters of the rate of a window without bound
LOOP_LONGEST_PAUSE_SECONDS = 15.0
INCOMPLETE_SWEEP_SECONDS = 30.0  # until the namespaces are listed again of which one was refused
NEW_OBJECTS_BETWEEN_COLLECTIONS = 50_000  # of Python; it looks after 700 unless it is told
EXIT_LEASE_LOST = 3
EXIT_REWOUND = 4

# A watch whose server just died may be slow to end; a pod is killed after 30 s.
ENDING_SECONDS = 20.0

T = TypeVar("T")

_log = structlog.get_logger("receipt_operator")


def main() -> None:
    """Run until a signal.

    Exits with 2 for wrong settings, 3 when another operator took over, 4 when the cluster came back
    from an older copy, 5 when something kept it from ending; after 3 to 5 it is meant to be started
    again.
    """
    answer_help(
        "receipt-operator",
        "Turns ReceiptReprocess and CacheRebuild objects into work and shows what became of it.",
        OperatorSettings,
    )
    try:
        settings = read(OperatorSettings)
    except SettingsError as error:
        sys.exit(f"receipt-operator: {error}")
    logs.configure("receipt-operator", level=settings.log_level)
    _collect_seldom()
    try:
        uvloop.run(_run(settings))
    except asyncio.CancelledError:
        _log.info("ended by a signal before it watched")
    except LeaseLostError:
        _log.error("another operator holds the lease; this one ends")
        sys.exit(EXIT_LEASE_LOST)
    except RewoundError:
        sys.exit(EXIT_REWOUND)


def _collect_seldom() -> None:
    """Have Python look for cycles seldom, and never among what was loaded: a fifth of a burst."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_BETWEEN_COLLECTIONS, 10, 10)


async def _run(settings: OperatorSettings) -> None:
    _end_on_signals()
    pulse = Pulse()
    queue = WorkQueue()
    async with AsyncExitStack() as stack:
        publisher = Publisher(
            settings.rabbitmq_url.get_secret_value(),
            name="operator",
            window=WINDOW,
            checks=settings.checks(BrokerUser.OPERATOR),
        )
        server = HealthServer(
            settings.health_port,
            live=lambda: health.live(pulse, waiting=len(queue)),
            ready=lambda: health.ready(pulse, publisher),
        )
        server.start()
        stack.callback(server.close)
        publisher.start()
        stack.push_async_callback(asyncio.to_thread, publisher.close)
        database = Database(settings.database_url.get_secret_value())
        await database.open()
        stack.push_async_callback(database.close)
        cluster = await stack.enter_async_context(connect())
        await _operate(
            settings, pulse, queue=queue, publisher=publisher, database=database, cluster=cluster
        )


def _end_on_signals() -> None:
    """Answer signals until kopf does: the first process of a container ignores what it does not."""
    own = asyncio.current_task()
    if own is not None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, own.cancel)


async def _operate(  # noqa: PLR0913 - the parts that live longer than the lease
    settings: OperatorSettings,
    pulse: Pulse,
    *,
    queue: WorkQueue,
    publisher: Publisher,
    database: Database,
    cluster: Cluster,
) -> None:
    """Wait for the lease, then watch and turn the loops until a signal or its loss."""
    stop = asyncio.Event()
    # Two pods on a host's network have one name and one process id.
    holder = f"{socket.gethostname()}-{secrets.token_hex(4)}"
    beating = asyncio.create_task(_beat(pulse))
    fence = await _take_lease(settings, database, holder)
    database.hold(fence)
    brake = await _until_it_answers(lambda: _set_brake(settings, database, fence))
    pulse.leads = True
    metrics.MIRROR_AGE.set_function(lambda: pulse.age("mirror"))
    objects, board = Objects(), Board()
    herald = Herald(cluster)
    retention = Retention(may_delete=settings.delete_finished)
    planner = Planner(
        database, board, receipts_root=settings.receipts_root, cache_root=settings.cache_root
    )
    controller = Controller(
        settings,
        database,
        cluster,
        objects=objects,
        queue=queue,
        board=board,
        planner=planner,
        publication=_publication(settings, database, publisher, board),
        mirror=Mirror(
            database,
            cluster,
            objects,
            queue,
            board,
            herald=herald,
            places=Places(cap=settings.global_in_flight, default_limit=settings.max_in_flight),
            retention=retention,
            default_max_in_flight=settings.max_in_flight,
            no_progress_after_seconds=settings.republish_after_seconds,
        ),
        cleaner=Cleaner(cluster, queue, retention, AsyncLimiter(DELETIONS_PER_SECOND, 1)),
        brake=brake,
    )
    loops = {
        "sweep": lambda: _sweep(controller, objects, board, settings.sweep_seconds),
        "reconcile": controller.reconcile_some,
        "mirror": controller.mirror_once,
        "publish": controller.publish_once,
        "events": herald.post_one,
        "lease": lambda: _renew_lease(settings, database, fence),
    }
    if settings.delete_finished:
        loops["clean"] = controller.clean_once
    watching = asyncio.create_task(_watch(settings, controller, stop))
    turning = [asyncio.create_task(_turn(name, loop, pulse)) for name, loop in loops.items()]
    try:
        await asyncio.wait([watching, *turning], return_when=asyncio.FIRST_COMPLETED)
    finally:
        shutdown.within(ENDING_SECONDS)
        stop.set()
        for task in (*turning, beating):
            task.cancel()
        if not controller.some_listed.is_set():
            watching.cancel()
        await planner.close()
        await asyncio.gather(beating, return_exceptions=True)
        ended = await asyncio.gather(watching, *turning, return_exceptions=True)
        await _release_lease(database, fence)
    _raise_first(ended)


async def _watch(settings: OperatorSettings, controller: Controller, stop: asyncio.Event) -> None:
    """Watch once the cluster knows the two kinds: kopf looks for them no more than once."""
    await controller.some_listed.wait()
    await handlers.watch(settings.namespaces, controller.saw, stop)


def _publication(
    settings: OperatorSettings, database: Database, publisher: Publisher, board: Board
) -> Publication:
    limits = Limits(
        max_in_flight=settings.max_in_flight,
        global_in_flight=settings.global_in_flight,
        republish_after_seconds=settings.republish_after_seconds,
        missing_grace_seconds=settings.missing_grace_seconds,
    )
    return Publication(
        database, publisher, board, receipts_root=settings.receipts_root, limits=limits
    )


async def _turn(name: str, loop: Callable[[], Awaitable[None]], pulse: Pulse) -> None:
    """Repeat a loop's round for ever; a failed one is tried again after a pause."""
    failures = 0
    while True:
        try:
            await loop()
        except LeaseLostError:
            raise
        except RewoundError:
            _log.warning("the cluster came back from an older copy; this operator ends")
            raise
        except (OutageError, ClusterError) as error:
            failures += 1
            _log.warning("outage", loop=name, error=type(error).__name__, sentence=str(error))
        except Exception:  # noqa: BLE001 - the one guard of the loops: it logs and goes on
            failures += 1
            _log.exception("a round failed", loop=name)
        else:
            failures = 0
            pulse.beat(name)
            continue
        metrics.LOOP_FAILURES.labels(name).inc()
        await asyncio.sleep(backoff.pause(failures, longest=LOOP_LONGEST_PAUSE_SECONDS))


async def _beat(pulse: Pulse) -> None:
    while True:
        pulse.beat("event loop")
        await asyncio.sleep(1)


async def _sweep(controller: Controller, objects: Objects, board: Board, seconds: float) -> None:
    is_complete = await controller.sweep()
    metrics.OBJECTS.set(len(objects))
    pause = seconds if is_complete else min(seconds, INCOMPLETE_SWEEP_SECONDS)
    await wait(board.sweep, pause)


async def _take_lease(settings: OperatorSettings, database: Database, holder: str) -> Fence:
    waiting = False
    while True:
        fence = await _until_it_answers(
            lambda: leases.take(
                database,
                cluster=settings.cluster,
                namespaces=settings.namespaces,
                holder=holder,
                seconds=settings.lease_seconds,
            )
        )
        if fence is not None:
            _log.info("lease taken", cluster=settings.cluster, epoch=fence.epoch)
            return fence
        if not waiting:
            _log.info("waiting for the lease", cluster=settings.cluster)
        waiting = True
        await asyncio.sleep(1)


async def _set_brake(settings: OperatorSettings, database: Database, fence: Fence) -> Brake | None:
    """Mark a register without requests, or take the mark away, as the settings say."""
    if settings.approve_first is None:
        await approvals.clear(database, fence)
        return None
    await approvals.mark_new(database, fence)
    marked = await approvals.marked(database, fence)
    if not marked:
        return None
    _log.warning("new requests wait for approval", after_the_first=settings.approve_first)
    return Brake(settings.approve_first, marked)


async def _until_it_answers(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask the database until it answers."""
    failures = 0
    while True:
        try:
            return await ask()
        except OutageError as error:
            _log.warning("outage", loop="lease", sentence=str(error))
            failures += 1
            await asyncio.sleep(backoff.pause(failures, longest=LOOP_LONGEST_PAUSE_SECONDS))


async def _renew_lease(settings: OperatorSettings, database: Database, fence: Fence) -> None:
    await asyncio.sleep(settings.lease_seconds / 3)
    renewed = await leases.take(
        database,
        cluster=fence.cluster,
        namespaces=fence.namespaces,
        holder=fence.holder,
        seconds=settings.lease_seconds,
    )
    if renewed is None or renewed.epoch != fence.epoch:
        raise LeaseLostError


async def _release_lease(database: Database, fence: Fence) -> None:
    try:
        await leases.release(database, fence)
    except OutageError:
        _log.info("lease not given back; it expires")


def _raise_first(ended: list[BaseException | None]) -> None:
    for outcome in ended:
        if isinstance(outcome, Exception):
            raise outcome


if __name__ == "__main__":
    main()
