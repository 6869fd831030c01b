"""What the cluster was last seen to hold: one value an object, newest first wins.

Filled by the watch and by complete lists; read by everything that decides. Never asks the cluster.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from receipt_contract.requests import APPROVE_ANNOTATION, Kind
from receipt_operator.register.rows import ObjectKey


class Tracker(StrEnum):
    """A tool that would create an object again which is deleted beside it."""

    ARGO_CD = "Argo CD"
    FLUX = "Flux"


# Labels and annotations by which the tools know what is theirs.
_TRACKS = {
    "argocd.argoproj.io/tracking-id": Tracker.ARGO_CD,
    "argocd.argoproj.io/instance": Tracker.ARGO_CD,
    "app.kubernetes.io/instance": Tracker.ARGO_CD,  # its usual label; others set it as well
    "kustomize.toolkit.fluxcd.io/name": Tracker.FLUX,
    "helm.toolkit.fluxcd.io/name": Tracker.FLUX,
}


@dataclass(frozen=True, slots=True)
class Observed:
    """One object as last seen; of thousands only text is kept, a fifth of what dicts take."""

    key: ObjectKey
    uid: str
    generation: int
    resource_version: str
    created_at: datetime
    packed_spec: bytes
    packed_status: bytes
    approved: bool = False  # a person said that it need not wait for approval
    tracked_by: Tracker | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """What its owner asks for, read anew each time."""
        return _unpacked(self.packed_spec)

    @property
    def status(self) -> dict[str, Any]:
        """What was last written on it, read anew each time."""
        return _unpacked(self.packed_status)

    @property
    def version(self) -> int:
        """The resource version as a number: of all that is stored, the later has the higher."""
        return int(self.resource_version)


class RewoundError(Exception):
    """The cluster is older than it was: its storage came back from a copy.

    A watch goes on from the last version it saw, so it would hear nothing until that is reached
    again. Whoever meets this has to start anew.
    """


class Objects:
    """The objects of the watched namespaces."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._objects: dict[ObjectKey, Observed] = {}
        self._seen: dict[ObjectKey, int] = {}  # deleted ones stay in it until the next list
        self._moment = 0
        self._newest: dict[tuple[Kind, str], int] = {}  # version by kind and namespace

    def __len__(self) -> int:
        """How many objects are there."""
        return len(self._objects)

    def __iter__(self) -> Iterator[Observed]:
        """Every object that is there, as last seen."""
        return iter(list(self._objects.values()))

    def get(self, key: ObjectKey) -> Observed | None:
        """Return the object as last seen, or None when it is not there."""
        return self._objects.get(key)

    def moment(self) -> int:
        """Return the present moment in the order of what was seen; a list begins at one."""
        return self._moment

    def newest(self, kind: Kind, namespace: str) -> int:
        """Return the highest version seen of a kind in a namespace; a later list has no lower."""
        return self._newest.get((kind, namespace), 0)

    def put(self, observed: Observed) -> None:
        """Remember an object as just seen, unless a later generation of it was seen before."""
        known = self._objects.get(observed.key)
        if known and known.uid == observed.uid and known.generation > observed.generation:
            return  # a watch may lag behind a list
        self._take(observed)

    def renew(self, observed: Observed) -> None:
        """Remember what a write of ours made of an object, unless that is gone by now."""
        known = self._objects.get(observed.key)
        if known and known.uid == observed.uid:
            self.put(observed)

    def drop(self, key: ObjectKey) -> None:
        """Forget an object that was deleted, but not yet when that was seen."""
        self._objects.pop(key, None)
        self._moment += 1
        self._seen[key] = self._moment

    def replace(
        self, kind: Kind, namespace: str, listed: Iterable[Observed], *, began: int
    ) -> list[ObjectKey]:
        """Take over a complete list that began at a moment; return every key it speaks about.

        What was seen after that moment is newer than the list and stays.
        """
        here = {key for key in self._seen if (key.kind, key.namespace) == (kind, namespace)}
        found = {observed.key: observed for observed in listed}
        for key in here - found.keys():
            if self._seen[key] <= began:
                self._objects.pop(key, None)
                del self._seen[key]
        for key, observed in found.items():
            if self._seen.get(key, 0) <= began:
                self._take(observed)
        return sorted(here | found.keys())

    def _take(self, observed: Observed) -> None:
        self._moment += 1
        self._objects[observed.key] = observed
        self._seen[observed.key] = self._moment
        place = (observed.key.kind, observed.key.namespace)
        self._newest[place] = max(observed.version, self._newest.get(place, 0))


def from_document(document: Mapping[str, Any]) -> Observed:
    """Read an object as the API server sends it; of its annotations only what is acted upon."""
    metadata = document["metadata"]
    annotations = metadata.get("annotations") or {}
    marks = {**(metadata.get("labels") or {}), **annotations}
    return Observed(
        key=ObjectKey(Kind(document["kind"]), metadata["namespace"], metadata["name"]),
        uid=metadata["uid"],
        generation=metadata["generation"],
        resource_version=metadata["resourceVersion"],
        created_at=datetime.fromisoformat(metadata["creationTimestamp"]),
        packed_spec=packed(document.get("spec") or {}),
        packed_status=packed(document.get("status") or {}),
        approved=annotations.get(APPROVE_ANNOTATION) == "true",
        tracked_by=next((tool for mark, tool in _TRACKS.items() if marks.get(mark)), None),
    )


def packed(content: Mapping[str, Any]) -> bytes:
    """Return JSON that is the same for equal contents."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _unpacked(content: bytes) -> dict[str, Any]:
    unpacked: dict[str, Any] = json.loads(content)
    return unpacked
