"""What the API server wrote down of every request our pods made while the other tests ran."""

import json
from collections import Counter

import pytest

from dev.kubernetes.cluster import Cluster

GROUP = "receipts.homebudget.dev"
KINDS = ("receiptreprocesses", "cacherebuilds")
ALLOWED = (
    *((verb, GROUP, kind, "") for verb in ("list", "watch") for kind in KINDS),
    *(("patch", GROUP, kind, "status") for kind in KINDS),
    ("create", "", "events", ""),
)


def test_g9_no_request_of_ours_was_refused_or_went_beyond_the_role(cluster: Cluster) -> None:
    if cluster.audit_log is None:
        pytest.skip("this cluster shows no audit log: CLUSTER=local does")
    lines = cluster.audit_log.read_text(encoding="utf-8").splitlines()
    ours = [
        entry
        for entry in map(json.loads, lines)
        if entry["user"]["username"].startswith("system:serviceaccount:e2e-")
    ]

    seen: Counter[tuple[str, str, str, str]] = Counter()
    refused = []
    for entry in ours:
        what = entry.get("objectRef", {})
        names = (what.get("apiGroup", ""), what.get("resource", ""), what.get("subresource", ""))
        seen[entry["verb"], *names] += 1
        if entry["responseStatus"]["code"] == 403:
            refused.append(entry["requestURI"])

    assert sum(seen.values()) > 0
    assert refused == []
    assert set(seen) <= set(ALLOWED)
