"""The only Kubernetes client of ours: list, patch a status, post an event, delete.

The Role allows list, watch, patch of the status, and delete where that is wanted; so one object is
read by a list with a name selector. kopf does the watching, in `handlers`.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import aiohttp
from kubernetes.aio import client, config
from kubernetes.aio.client.exceptions import ApiException

from receipt_contract.requests import API_VERSION, GROUP, VERSION, Kind
from receipt_operator.observed import Observed, from_document
from receipt_operator.register.rows import ObjectKey

LIST_CHUNK = 500
REQUEST_SECONDS = 30.0
MERGE_PATCH = "application/merge-patch+json"
REPORTING_CONTROLLER = f"{GROUP}/operator"

_FORBIDDEN = 403
_EVENTS = "/api/v1/namespaces/{namespace}/events"

_NOT_FOUND = 404
_CONFLICT = 409
_TOO_MANY = 429
_SERVER_ERROR = 500


class ClusterError(Exception):
    """The API server refused or did not answer; the cause has the class, not the text."""


class ConflictError(ClusterError):
    """The object changed since it was read."""


class GoneError(ClusterError):
    """The object is not there any more."""


class ForbiddenError(ClusterError):
    """Our Role does not allow that."""


class UnavailableError(ClusterError):
    """The API server did not answer, or asked to come later."""


_ERRORS = {
    _FORBIDDEN: ForbiddenError,
    _NOT_FOUND: GoneError,
    _CONFLICT: ConflictError,
    _TOO_MANY: UnavailableError,
}


class Listing(NamedTuple):
    """All objects of one kind and namespace, and the version of the cluster that they are of."""

    objects: list[Observed]
    version: int


class Cluster:
    """One connection pool to the API server."""

    def __init__(self, api: client.ApiClient) -> None:
        """Wrap a client that is logged in."""
        self._custom = client.CustomObjectsApi(api)
        self._api = api

    async def list_objects(self, kind: Kind, namespace: str) -> Listing:
        """Read all objects of a kind in a namespace, in chunks."""
        return await self._list(kind, namespace, limit=LIST_CHUNK)

    async def read(self, key: ObjectKey) -> Observed | None:
        """Read one object as it is now."""
        found = await self._list(
            key.kind, key.namespace, field_selector=f"metadata.name={key.name}"
        )
        return found.objects[0] if found.objects else None

    async def patch_status(self, observed: Observed, status: Mapping[str, Any]) -> Observed:
        """Write a whole status computed from `observed`; keys left out are removed.

        Raises ConflictError when the object changed since, GoneError when it is not there.
        """
        removed = dict.fromkeys(observed.status.keys() - status.keys())
        async with _translated():
            document: Any = await self._custom.patch_namespaced_custom_object_status(
                GROUP,
                VERSION,
                observed.key.namespace,
                observed.key.kind.plural,
                observed.key.name,
                {
                    "metadata": {"resourceVersion": observed.resource_version},
                    "status": _whole(observed.status, status) | removed,
                },
                _content_type=MERGE_PATCH,
                _request_timeout=REQUEST_SECONDS,
            )
        return from_document(document)

    async def delete(self, observed: Observed) -> None:
        """Delete an object, if it is still exactly the one observed.

        Raises ConflictError when it changed, GoneError when it is not there, ForbiddenError when
        our Role lacks the verb.
        """
        key = observed.key
        exactly = client.V1Preconditions(
            uid=observed.uid, resource_version=observed.resource_version
        )
        async with _translated():
            await self._custom.delete_namespaced_custom_object(
                GROUP,
                VERSION,
                key.namespace,
                key.kind.plural,
                key.name,
                body=client.V1DeleteOptions(preconditions=exactly),
                _request_timeout=REQUEST_SECONDS,
            )

    async def post_event(
        self, key: ObjectKey, uid: str, *, type_: str, reason: str, note: str
    ) -> None:
        """Post an event on an object; `type_` is Normal or Warning."""
        now = datetime.now(UTC)
        body: Any = {
            "metadata": {
                "generateName": f"{key.name[:200].rstrip('-.')}.",
                "namespace": key.namespace,
            },
            "involvedObject": {
                "apiVersion": API_VERSION,
                "kind": key.kind.value,
                "namespace": key.namespace,
                "name": key.name,
                "uid": uid,
            },
            "type": type_,
            "reason": reason,
            "message": note,
            "firstTimestamp": now.isoformat(timespec="seconds"),
            "lastTimestamp": now.isoformat(timespec="seconds"),
            "count": 1,
            "source": {"component": REPORTING_CONTROLLER},
        }
        async with _translated():
            await self._create(_EVENTS, key.namespace, body)

    async def _create(self, path: str, namespace: str, body: Mapping[str, Any]) -> None:
        """Create an object of the core group.

        The client's own class for that group loads a model of everything there is in Kubernetes,
        which takes half of our start and 25 MiB.
        """
        request = await self._api.param_serialize(
            "POST",
            path,
            path_params={"namespace": namespace},
            header_params={"Accept": "application/json", "Content-Type": "application/json"},
            body=body,
            auth_settings=["BearerToken"],
        )
        answer = await self._api.call_api(*request, _request_timeout=REQUEST_SECONDS)
        await answer.read()  # type: ignore[no-untyped-call]  # ships none
        self._api.response_deserialize(answer, {"201": "object"})

    async def _list(self, kind: Kind, namespace: str, **options: Any) -> Listing:
        found: list[Observed] = []
        token: str | None = None
        while True:
            async with _translated():
                page: Any = await self._custom.list_namespaced_custom_object(
                    GROUP,
                    VERSION,
                    namespace,
                    kind.plural,
                    _continue=token,
                    _request_timeout=REQUEST_SECONDS,
                    **options,
                )
            # Items of a list do not name their kind.
            found.extend(from_document({**item, "kind": kind.value}) for item in page["items"])
            token = page["metadata"].get("continue")
            if not token:
                return Listing(found, int(page["metadata"]["resourceVersion"]))


@asynccontextmanager
async def connect() -> AsyncIterator[Cluster]:
    """Log in: as the pod's service account, else by the kubeconfig."""
    # The environment is not asked on each request for a proxy and for somebody's passwords: kopf
    # does not go by them, and the kubeconfig says both.
    configuration = client.Configuration()
    configuration.client_session_kwargs = {"trust_env": False}
    try:
        config.load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # ships none
    except config.ConfigException:
        await config.load_kube_config(client_configuration=configuration, persist_config=False)  # type: ignore[no-untyped-call]  # ships none
    async with client.ApiClient(configuration) as api:
        yield Cluster(api)


def _whole(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Make a merge patch replace maps instead of merging into them: dropped keys become null."""
    patch: dict[str, Any] = {}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            patch[name] = _whole(old, value) | dict.fromkeys(old.keys() - value.keys())
        else:
            patch[name] = value
    return patch


@asynccontextmanager
async def _translated() -> AsyncIterator[None]:
    try:
        yield
    except ApiException as error:
        raise _class_of(error.status)(f"the API server answered {error.status}") from error
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise UnavailableError("the API server does not answer") from error


def _class_of(status: int) -> type[ClusterError]:
    if status >= _SERVER_ERROR:
        return UnavailableError
    return _ERRORS.get(status, ClusterError)
