"""What the API server wrote down of every request our pods made while the other tests ran."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from operator import itemgetter
from typing import Any

import pytest

from dev.kubernetes.cluster import Cluster

GROUP = "receipts.homebudget.dev"
KINDS = ("receiptreprocesses", "cacherebuilds")
ALLOWED = (
    *((verb, GROUP, kind, "") for verb in ("list", "watch") for kind in KINDS),
    *(("patch", GROUP, kind, "status") for kind in KINDS),
    ("create", "", "events", ""),
)

Entry = Mapping[str, Any]


def test_g9_no_request_of_ours_was_refused_or_went_beyond_the_role(cluster: Cluster) -> None:
    if cluster.audit_log is None:
        pytest.skip("this cluster shows no audit log: CLUSTER=local does")
    lines = cluster.audit_log.read_text(encoding="utf-8").splitlines()
    entries = sorted(map(json.loads, lines), key=itemgetter("requestReceivedTimestamp"))

    seen = Counter(
        _asked(entry)
        for entry in entries
        if _is_ours(entry) and "objectRef" in entry  # else it asks which kinds there are
    )

    assert sum(seen.values()) > 0
    assert list(_refused(entries)) == []
    assert set(seen) <= set(ALLOWED)


def _is_ours(entry: Entry) -> bool:
    name: str = entry["user"]["username"]
    return name.startswith("system:serviceaccount:e2e-")


def _asked(entry: Entry) -> tuple[str, str, str, str]:
    what = entry.get("objectRef", {})
    resource, subresource = what.get("resource", ""), what.get("subresource", "")
    return entry["verb"], what.get("apiGroup", ""), resource, subresource


def _refused(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield what our processes were refused while their release gave them a Role.

    An uninstallation takes the Role away a moment before the process is gone.
    """
    bound: set[str] = set()
    for entry in entries:
        what = entry.get("objectRef", {})
        if what.get("resource") == "rolebindings":
            given = entry["verb"] != "delete"
            (bound.add if given else bound.discard)(what["namespace"])
        elif _is_ours(entry) and _namespace(entry) in bound and _is_refused(entry):
            yield entry["requestURI"]


def _namespace(entry: Entry) -> str:
    """Return the namespace of the account that asked."""
    return str(entry["user"]["username"].split(":")[2])


def _is_refused(entry: Entry) -> bool:
    return bool(entry["responseStatus"]["code"] == HTTPStatus.FORBIDDEN)
