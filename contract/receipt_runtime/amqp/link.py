"""One AMQP connection with one channel, kept alive on a thread of its own.

Connects, declares or checks the topology, hands the channel to its tenant, and starts anew after
every loss. The only place that runs a loop of pika; every channel call happens on its thread.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import pika
import structlog
from pika.adapters.select_connection import IOLoop
from pika.exceptions import AMQPError, ChannelClosedByBroker, ConnectionClosedByClient

from receipt_contract.access import Access
from receipt_contract.errors import OutageError, Reason
from receipt_contract.topology import SIDES, WORK_SIDE
from receipt_runtime import backoff, logs, metrics
from receipt_runtime.amqp import connection, declare

TICK_SECONDS = 0.25
STEADY_SECONDS = 10.0  # a connection that lived this long starts the back-off from the beginning
CLOSE_SECONDS = 5.0  # a frozen broker never answers a close
# Before a queue that vanished is made again: at once, the broker would not tell its consumers that
# it was gone, and they would wait for ever (seen on 3.10).
REDECLARE_SECONDS = 1.0

_log = structlog.get_logger(__name__)


class Tenant(Protocol):
    """What lives on a link. All three are called on the link's thread."""

    def opened(self, channel: Any) -> None:
        """Begin to use a fresh channel; the topology is there."""

    def lost(self) -> None:
        """Forget the channel and all that hung on it; may come twice."""

    def tick(self) -> None:
        """Look at the clock; comes several times a second, connected or not."""


class Link:
    """Keeps a tenant connected until it is closed."""

    def __init__(
        self, url: str, *, name: str, tenant: Tenant, checks: Access | None = None
    ) -> None:
        """Prepare; `checks` is what to check and wait for, instead of declaring everything."""
        self._parameters = connection.parameters(url, name=name)
        self._name = name
        self._tenant = tenant
        self._checks = checks
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._loop_lock = threading.Lock()
        self._loop: Any = None
        self._calls: deque[Callable[[], None]] = deque()
        self._connection: Any = None
        self._closing = False
        self._failures = 0
        self._ready_at: float | None = None
        self._blocked = False
        self._redeclaring = False
        self._problem: OutageError | None = OutageError(Reason.BROKER_UNAVAILABLE)
        self._logged = ""  # the problem as it was last logged; a first failure is news too

    @property
    def blocked(self) -> bool:
        """Whether the broker asked publishers to wait (memory or disk alarm)."""
        return self._blocked

    @property
    def problem(self) -> str | None:
        """Sentence that says why there is no usable channel, or None."""
        return str(self._problem) if self._problem else None

    def start(self) -> None:
        """Begin to connect."""
        self._thread.start()

    def close(self) -> None:
        """Close cleanly, which no acknowledgement survives otherwise; bounded."""
        self.call(self._shut)
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS + 1.0)

    def call(self, action: Callable[[], None]) -> None:
        """Run `action` on the link's thread soon; safe from any thread."""
        self._calls.append(action)
        with self._loop_lock:
            if self._loop is not None:
                self._loop.add_callback_threadsafe(self._run_calls)

    def call_later(self, seconds: float, action: Callable[[], None]) -> None:
        """Run `action` after a pause; from the link's thread only."""
        self._loop.call_later(seconds, partial(self._attempt, action))

    def reset(self) -> None:
        """Drop the connection and start anew; from the link's thread only."""
        self._problem = self._problem or OutageError(Reason.BROKER_UNAVAILABLE)
        self._tenant.lost()
        self._close_connection()

    def declare_again(self) -> None:
        """Declare the topology soon, beside the running channel; from the link's thread only."""
        if self._checks is None and not self._redeclaring:
            self._redeclaring = True
            self._loop.call_later(REDECLARE_SECONDS, self._redeclare)

    def _run(self) -> None:
        while not self._closing:
            self._open_loop()
            try:
                self._loop.start()
            except Exception as error:  # noqa: BLE001 - the thread must outlive a bug in the library
                self._recover(error)
            self._tenant.lost()
            self._close_loop()

    def _recover(self, error: Exception) -> None:
        """Wait before the next loop; closing a connection that is still opening ends here too."""
        if not self._closing:
            self._failures += 1
            _log.error("broker connection failed", link=self._name, failure=logs.trail(error))
            time.sleep(backoff.pause(self._failures))

    def _open_loop(self) -> None:
        with self._loop_lock:
            self._loop = IOLoop()
        self._redeclaring = False
        self._loop.add_callback(self._tick)
        self._loop.add_callback(self._connect)

    def _close_loop(self) -> None:
        with self._loop_lock:
            self._loop.close()
            self._loop = None
        self._connection = None

    def _run_calls(self) -> None:
        while self._calls:
            self._attempt(self._calls.popleft())

    def _attempt(self, action: Callable[[], None]) -> None:
        """Run what a tenant asked for; a channel that refuses it is not worth keeping."""
        try:
            action()
        except AMQPError as error:
            _log.warning("broker call failed", link=self._name, failure=logs.trail(error))
            self.reset()

    def _tick(self) -> None:
        self._loop.call_later(TICK_SECONDS, self._tick)
        self._run_calls()
        self._attempt(self._tenant.tick)

    def _shut(self) -> None:
        self._closing = True
        if self._connection is None or self._connection.is_closed:
            self._loop.stop()
        else:
            self._close_connection()

    def _close_connection(self) -> None:
        closing = self._connection
        if closing is None or closing.is_closed:
            return
        self._loop.call_later(CLOSE_SECONDS, partial(self._drop, closing))
        if not closing.is_closing:
            closing.close()

    def _drop(self, closing: Any) -> None:
        """Give up on a broker that does not answer the closing."""
        if not closing.is_closed:
            closing._terminate_stream(None)  # noqa: SLF001 - there is no public way

    def _connect(self) -> None:
        if self._closing:
            return
        self._connection = pika.SelectConnection(
            self._parameters,
            on_open_callback=self._on_open,
            on_open_error_callback=self._on_closed,
            on_close_callback=self._on_closed,
            custom_ioloop=self._loop,
        )

    def _on_open(self, opened: Any) -> None:
        opened.add_on_connection_blocked_callback(lambda *_: self._alarm(blocked=True))
        opened.add_on_connection_unblocked_callback(lambda *_: self._alarm(blocked=False))
        opened.channel(on_open_callback=self._on_channel)

    def _alarm(self, *, blocked: bool) -> None:
        self._blocked = blocked
        _log.warning("broker alarm", link=self._name, blocked=blocked)

    def _on_channel(self, channel: Any) -> None:
        channel.add_on_close_callback(self._on_channel_closed)
        self._lay_out(channel, lambda _: self._on_ready(channel))

    def _lay_out(self, channel: Any, done: Callable[[Any], None]) -> None:
        """Send all declarations without waiting; the answer to the last question ends them."""
        if self._checks is None:
            declare.declare(channel, SIDES)
            last = WORK_SIDE.work
        else:
            declare.check(channel, self._checks)
            last = self._checks.writes[-1]
        channel.exchange_declare(exchange=last, passive=True, callback=done)

    def _on_ready(self, channel: Any) -> None:
        if not channel.is_open:
            return
        self._problem = None
        self._logged = ""
        self._ready_at = time.monotonic()
        _log.info("broker connected", link=self._name)
        self._tenant.opened(channel)

    def _on_channel_closed(self, _channel: Any, reason: Exception) -> None:
        if isinstance(reason, ChannelClosedByBroker):
            self._note(declare.refusal(reason))
            self.reset()

    def _on_closed(self, _connection: Any, reason: BaseException) -> None:
        self._blocked = False
        self._tenant.lost()
        if self._closing:
            self._loop.stop()
            return
        if not isinstance(reason, ConnectionClosedByClient):  # whoever reset it noted why
            self._note(connection.translated(reason))
        self._count_failure()
        metrics.RECONNECTS.labels(link=self._name).inc()
        self._loop.call_later(backoff.pause(self._failures), self._connect)

    def _note(self, problem: OutageError) -> None:
        """Keep what is wrong, and log it when it is news."""
        if str(problem) != self._logged:
            _log.warning("broker not usable", link=self._name, problem=str(problem))
        self._problem = problem
        self._logged = str(problem)

    def _count_failure(self) -> None:
        lived = 0.0 if self._ready_at is None else time.monotonic() - self._ready_at
        self._failures = 0 if lived > STEADY_SECONDS else self._failures + 1
        self._ready_at = None

    def _redeclare(self) -> None:
        self._redeclaring = False
        if self._connection.is_open:
            self._connection.channel(on_open_callback=self._on_second_channel)

    def _on_second_channel(self, channel: Any) -> None:
        channel.add_on_close_callback(self._on_redeclared)
        self._lay_out(channel, lambda _: channel.is_open and channel.close())

    def _on_redeclared(self, _channel: Any, reason: Exception) -> None:
        if isinstance(reason, ChannelClosedByBroker):
            _log.warning("declaring again failed", problem=str(declare.refusal(reason)))
