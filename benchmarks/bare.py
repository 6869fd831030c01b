"""The least an operator can do, to compare with: kopf, and one status write for each new object.

It asks no database and sends nothing, so what it takes is the price of kopf, of the client and of
the API server. Started as a program in place of ours.
"""

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import kopf

from receipt_contract.requests import GROUP, VERSION, Kind
from receipt_operator.cluster import Cluster, connect
from receipt_operator.observed import from_document
from receipt_runtime.health import HealthServer


def main() -> None:
    """Serve the namespaces that our own operator would."""
    server = HealthServer(int(os.environ["HEALTH_PORT"]), live=list, ready=list)
    server.start()
    try:
        asyncio.run(_serve(os.environ["RECEIPTS_NAMESPACES"].split(",")))
    finally:
        server.close()


async def _serve(namespaces: list[str]) -> None:
    registry = kopf.OperatorRegistry()
    async with connect() as cluster:

        @kopf.on.event(GROUP, VERSION, Kind.RECEIPT_REPROCESS.plural, registry=registry)
        async def say_published(event: kopf.RawEvent, **_: Any) -> None:
            if event["type"] != "DELETED":
                await _write(cluster, event["object"])

        kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
        settings = kopf.OperatorSettings()
        settings.posting.enabled = False
        settings.scanning.disabled = True
        await kopf.operator(
            registry=registry,
            settings=settings,
            namespaces=namespaces,
            standalone=True,
        )


async def _write(cluster: Cluster, document: Mapping[str, Any]) -> None:
    observed = from_document({**document, "kind": Kind.RECEIPT_REPROCESS.value})
    if "conditions" not in observed.status:
        condition = {
            "type": "Published",
            "status": "True",
            "reason": "Confirmed",
            "message": "",
            "lastTransitionTime": datetime.now(UTC).isoformat(timespec="seconds"),
            "observedGeneration": observed.generation,
        }
        await cluster.patch_status(observed, {**observed.status, "conditions": [condition]})


if __name__ == "__main__":
    main()
