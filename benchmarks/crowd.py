"""Many objects created at once, and what the API server's own log says became of them."""

import asyncio
import json
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kubernetes.aio import client, config

from receipt_contract.requests import API_VERSION, GROUP, VERSION, Kind
from tests.support.pipeline import Pipeline, holds
from tests.support.receipts import write_copies

KIND = Kind.RECEIPT_REPROCESS
CREATORS = 24  # create calls at a time; more make the API server no faster
POLL_SECONDS = 1.0
OPERATOR_USER = "receipt-operator"


class Story(NamedTuple):
    """One object in the API server's log; times are the server's own."""

    created_at: datetime
    published_at: datetime | None  # the write that said Published=True was answered


def create(pipeline: Pipeline, names: Sequence[str]) -> None:
    """Create one object for each name, each with a receipt of its own."""
    objects = _objects(pipeline, names)
    asyncio.run(_create_all(pipeline, objects))


def create_from_a_file(pipeline: Pipeline, names: Sequence[str]) -> None:
    """Do the same as people do: one file and one `kubectl create`, which takes its time."""
    objects = _objects(pipeline, names)
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, file)
        file.flush()
        pipeline.kubectl("create", "--filename", file.name)


def _objects(pipeline: Pipeline, names: Sequence[str]) -> list[dict[str, Any]]:
    references = {name: f"{name}.png" for name in names}
    write_copies(pipeline.receipts, *references.values())
    return [
        {
            "apiVersion": API_VERSION,
            "kind": KIND.value,
            "metadata": {"name": name},
            "spec": {"target": {"reference": reference}},
        }
        for name, reference in references.items()
    ]


async def _create_all(pipeline: Pipeline, bodies: Sequence[dict[str, Any]]) -> None:
    gate = asyncio.Semaphore(CREATORS)
    kubeconfig = str(pipeline.cluster.kubeconfig())
    api = await config.new_client_from_config(config_file=kubeconfig)  # type: ignore[no-untyped-call]  # ships none
    async with api:
        objects = client.CustomObjectsApi(api)

        async def create_one(body: dict[str, Any]) -> None:
            async with gate:
                await objects.create_namespaced_custom_object(
                    GROUP, VERSION, pipeline.namespace, KIND.plural, body
                )

        await asyncio.gather(*(create_one(body) for body in bodies))


def wait_finished(pipeline: Pipeline, requests: int, *, within: float) -> None:
    """Wait until so many requests have finished and their objects say so."""
    deadline = time.monotonic() + within
    while not _is_finished(pipeline, requests):
        if time.monotonic() > deadline:
            raise TimeoutError("the requests did not finish")
        time.sleep(POLL_SECONDS)


def _is_finished(pipeline: Pipeline, requests: int) -> bool:
    [found] = pipeline.rows("SELECT count(*) AS n FROM work.requests WHERE state = 'finished'")
    if found["n"] < requests:
        return False
    said = pipeline.kubectl(
        "get",
        KIND.plural,
        "--output=jsonpath={range .items[*]}{.status.progress.percent} {end}",
    )
    return said.split().count("100") >= requests


def stories(pipeline: Pipeline, names: Collection[str]) -> list[Story]:
    """Read what the API server logged about each of these objects."""
    created: dict[str, datetime] = {}
    published: dict[str, datetime] = {}
    wanted = set(names)
    for entry in _log(pipeline):
        about = entry.get("objectRef", {})
        moment = datetime.fromisoformat(entry["stageTimestamp"])
        if about.get("resource") != KIND.plural or about.get("name") not in wanted:
            continue
        if entry["verb"] == "create":
            created[about["name"]] = moment
        elif _says_published(entry):
            published.setdefault(about["name"], moment)
    return [Story(moment, published.get(name)) for name, moment in created.items()]


def operator_writes(pipeline: Pipeline) -> Counter[str]:
    """Count what the operator wrote through the API server: by resource, status and events."""
    return Counter(
        entry["objectRef"]["resource"]
        for entry in _log(pipeline)
        if entry["verb"] in {"create", "patch"}
        and entry["user"]["username"].endswith(f":{OPERATOR_USER}")
        and entry["objectRef"].get("subresource") != "token"
    )


def _log(pipeline: Pipeline) -> Iterator[dict[str, Any]]:
    log = pipeline.cluster.audit_log
    if log is None:
        raise RuntimeError("this cluster shows no audit log: CLUSTER=local has one")
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            if f'"{pipeline.namespace}"' not in line:
                continue
            entry = json.loads(line)
            if entry["stage"] == "ResponseComplete" and entry["responseStatus"]["code"] < 400:  # noqa: PLR2004 - HTTP
                yield entry


def _says_published(entry: Mapping[str, Any]) -> bool:
    if entry["objectRef"].get("subresource") != "status":
        return False
    return holds(entry["requestObject"].get("status", {}), "Published")
