"""kopf's entry points: an event only updates what was observed and queues the object's key.

No create, update or delete handlers, timers, daemons or indexes: each would put an annotation or
a finalizer on objects, and a delete must never wait for us (promise G5).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import kopf

from receipt_contract.requests import GROUP, VERSION, Kind
from receipt_operator.cluster import LIST_CHUNK

Event = Mapping[str, Any]
Sink = Callable[[Kind, Event], None]

# A watch that went silent behind a load balancer is started again after this long.
SERVER_TIMEOUT_SECONDS = 600
INACTIVITY_SECONDS = 70
CONNECT_SECONDS = 10
# A worker of kopf's keeps the last event of its object until it ends.
IDLE_SECONDS = 0.5

# Else kopf asks the system for our account's name, and a pod's number has none.
_IDENTITY: Any = "receipt-operator"


async def watch(namespaces: Sequence[str], sink: Sink, stop: asyncio.Event) -> None:
    """Watch both kinds in the namespaces until `stop`, or until a signal ends the process."""
    await kopf.operator(
        registry=_registry(sink),
        settings=_settings(),
        namespaces=list(namespaces),
        standalone=True,
        identity=_IDENTITY,
        stop_flag=stop,
    )


def _registry(sink: Sink) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()
    kopf.on.login(registry=registry)(_log_in)
    for kind in Kind:
        _subscribe(registry, kind, sink)
    return registry


def _subscribe(registry: kopf.OperatorRegistry, kind: Kind, sink: Sink) -> None:
    @kopf.on.event(GROUP, VERSION, kind.plural, registry=registry)
    async def on_event(event: kopf.RawEvent, **_: Any) -> None:
        sink(kind, event)


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.persistence.diffbase_storage = _NoDiffBase()
    settings.peering.standalone = True
    settings.scanning.disabled = True  # discovery needs rights outside our namespaces
    settings.watching.server_timeout = SERVER_TIMEOUT_SECONDS
    settings.watching.inactivity_timeout = INACTIVITY_SECONDS
    settings.watching.connect_timeout = CONNECT_SECONDS
    settings.watching.chunk_size = LIST_CHUNK  # where it is not told, kopf reads all at once
    settings.queueing.idle_timeout = IDLE_SECONDS
    return settings


class _NoDiffBase(kopf.DiffBaseStorage):
    """Builds no copy of each object to compare with the next one: we have no handler of changes."""

    def build(self, **_: Any) -> Any:
        return {}

    def fetch(self, **_: Any) -> None:
        return None

    def store(self, **_: Any) -> None:
        return None


def _log_in(**context: Any) -> kopf.ConnectionInfo | None:
    return kopf.login_with_service_account(**context) or kopf.login_with_kubeconfig(**context)
