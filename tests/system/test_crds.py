"""The two kinds on a real API server: what it takes, what it refuses and in which words."""

import json
from pathlib import Path
from typing import Any

import pytest

from dev.generate import ROOT
from dev.kubernetes.cluster import Cluster
from dev.kubernetes.kubectl import KubectlError
from receipt_contract import requests
from receipt_contract.requests import Kind, RequestSpec
from receipt_contract.status import MAX_STATUS_BYTES, RequestStatus
from tests.support.requests import (
    ACCEPTED,
    REFUSED,
    Accepted,
    Refused,
    for_reference,
    for_selector,
    full_status,
    manifest,
    with_field,
)

pytestmark = pytest.mark.cluster

EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
COLUMNS = ["NAME", "STATE", "DONE", "PCT", "FAILED", "ETA", "AGE"]
WIDE_COLUMNS = ["RUN", "TARGET", "PRIORITY", "REASON", "MESSAGE", "STARTED", "FINISHED"]

_AS_JSON = ("--output=json",)

CANCELLED = "a cancelled request stays cancelled: set a new spec.runId to run again"


def _fixed(field: str) -> str:
    return f"{field} is fixed within a runId: set a new spec.runId together with the new {field}"


def _wish(spec: dict[str, Any]) -> str:
    return requests.wish_hash(RequestSpec.model_validate(spec))


class Objects:
    """Objects of one kind in one namespace, handled as a person would with kubectl."""

    def __init__(self, cluster: Cluster, namespace: str, kind: Kind) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._kind = kind

    def check(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Let the API server judge a new object; return the spec it would keep."""
        text = manifest(self._kind, spec)
        answer = self._kubectl("create", "--dry-run=server", "--filename=-", *_AS_JSON, text=text)
        kept: dict[str, Any] = json.loads(answer)["spec"]
        return kept

    def put(self, spec: dict[str, Any], *, name: str) -> None:
        """Create an object, in place of an earlier one of that name."""
        self._kubectl("delete", self._kind, name, "--ignore-not-found")
        self._kubectl("create", "--filename=-", text=manifest(self._kind, spec, name=name))

    def check_change(self, spec: dict[str, Any], *, name: str) -> None:
        """Let the API server judge another spec for an object, which stays as it is."""
        changed = manifest(self._kind, spec, name=name)
        self._kubectl("replace", "--dry-run=server", "--filename=-", text=changed)

    def answer(self, status: dict[str, Any], *, name: str) -> None:
        patch = f"--patch={json.dumps({'status': status})}"
        self._kubectl("patch", self._kind, name, "--subresource=status", "--type=merge", patch)

    def read(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._kubectl("get", self._kind, name, *_AS_JSON))
        return found

    def table(self, *options: str) -> list[str]:
        return self._kubectl("get", self._kind, *options).splitlines()

    def names(self, *options: str) -> set[str]:
        listed = self._kubectl("get", self._kind, "--output=name", *options).split()
        return {name.partition("/")[2] for name in listed}

    def _kubectl(self, *args: str, text: str = "") -> str:
        return self._cluster.kubectl("--namespace", self._namespace, *args, text=text)


@pytest.fixture(params=Kind, ids=str)
def objects(request: pytest.FixtureRequest, kinds: Cluster, namespace: str) -> Objects:
    """Objects of each kind in turn."""
    return Objects(kinds, namespace, request.param)


@pytest.fixture
def rebuilds(kinds: Cluster, namespace: str) -> Objects:
    """Objects of one kind, where both have the same rules."""
    return Objects(kinds, namespace, Kind.CACHE_REBUILD)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.about)
def test_a_valid_spec_is_taken_and_kept_as_written(rebuilds: Objects, case: Accepted) -> None:
    assert rebuilds.check(case.spec) == case.spec


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.about)
def test_g6_a_wrong_spec_is_refused_with_its_sentence(rebuilds: Objects, case: Refused) -> None:
    with pytest.raises(KubectlError) as refusal:
        rebuilds.check(case.spec)

    assert case.answer in str(refusal.value)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        pytest.param(for_reference("a"), for_reference("b"), _fixed("target"), id="target"),
        pytest.param(
            for_selector(glob="*"),
            for_selector(glob="*", cache="Any"),
            _fixed("target"),
            id="one more field of the selector",
        ),
        pytest.param(with_field(), with_field(dryRun=True), _fixed("dryRun"), id="dryRun on"),
        pytest.param(with_field(dryRun=True), with_field(), _fixed("dryRun"), id="dryRun away"),
        pytest.param(
            with_field(),
            with_field(rerunPolicy="OnRecreate"),
            _fixed("rerunPolicy"),
            id="rerunPolicy",
        ),
        pytest.param(with_field(), with_field(maxItems=5), _fixed("maxItems"), id="maxItems set"),
        pytest.param(
            with_field(runId="1", maxItems=5),
            with_field(runId="1", maxItems=6),
            _fixed("maxItems"),
            id="maxItems raised",
        ),
        pytest.param(with_field(cancel=True), with_field(), CANCELLED, id="cancel taken away"),
        pytest.param(
            with_field(cancel=True), with_field(cancel=False), CANCELLED, id="cancel set to false"
        ),
    ],
)
def test_g6_what_is_fixed_within_a_run_id_is_refused_with_its_sentence(
    rebuilds: Objects, before: dict[str, Any], after: dict[str, Any], sentence: str
) -> None:
    rebuilds.put(before, name="changing")

    with pytest.raises(KubectlError) as refusal:
        rebuilds.check_change(after, name="changing")
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            with_field(cancel=True, maxItems=5),
            {
                **for_selector(cache="Any"),
                "runId": "2",
                "dryRun": True,
                "rerunPolicy": "OnRecreate",
            },
            id="everything, with a new runId",
        ),
        pytest.param(with_field(runId="1", maxItems=5), with_field(), id="no runId any more"),
    ],
)
def test_a_new_run_id_may_change_everything(
    rebuilds: Objects, before: dict[str, Any], after: dict[str, Any]
) -> None:
    rebuilds.put(before, name="changing")

    rebuilds.check_change(after, name="changing")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            with_field(),
            with_field(
                suspend=True,
                cancel=True,
                priority="High",
                maxInFlight=3,
                startBefore="2026-12-31T00:00:00Z",
                activeDeadlineSeconds=60,
                failureThresholdPercent=10,
                ttlSecondsAfterFinished=60,
            ),
            id="every field that may change",
        ),
        pytest.param(
            {"target": {"references": ["a", "b"]}},
            {"target": {"references": ["b", "a"]}},
            id="references in another order",
        ),
        pytest.param(
            for_selector(processedBefore="2026-01-01T00:00:00Z"),
            for_selector(processedBefore="2026-01-01T01:00:00+01:00"),
            id="a moment in another zone",
        ),
        pytest.param(with_field(), with_field(dryRun=False), id="a dry run that is off"),
        pytest.param(with_field(), with_field(rerunPolicy="NewRunId"), id="the usual policy"),
    ],
)
def test_g3_a_change_within_a_run_id_keeps_the_wish(
    rebuilds: Objects, before: dict[str, Any], after: dict[str, Any]
) -> None:
    rebuilds.put(before, name="changing")

    rebuilds.check_change(after, name="changing")
    assert _wish(before) == _wish(after)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_taken(kinds: Cluster, namespace: str, example: Path) -> None:
    kinds.kubectl("--namespace", namespace, "apply", "--filename", str(example))


def test_there_are_examples_of_both_kinds() -> None:
    texts = [path.read_text(encoding="utf-8") for path in EXAMPLES]

    assert [kind for kind in Kind if not any(f"kind: {kind}\n" in text for text in texts)] == []


def test_an_object_nobody_looked_at_yet_says_so(objects: Objects) -> None:
    objects.put(with_field(), name="new")

    assert objects.read("new")["status"] == {"observedGeneration": -1}


def test_g4_a_full_status_is_kept_whole(objects: Objects) -> None:
    status = full_status().document()
    assert (
        0.9 * MAX_STATUS_BYTES < len(json.dumps(status, separators=(",", ":"))) < MAX_STATUS_BYTES
    )
    objects.put(with_field(), name="full")

    objects.answer(status, name="full")

    assert objects.read("full")["status"] == status
    assert RequestStatus.model_validate(objects.read("full")["status"]) == full_status()


def test_the_table_has_our_columns(objects: Objects) -> None:
    objects.put(with_field(), name="full")
    objects.answer(full_status().document(), name="full")

    header, row = objects.table("full")

    assert header.split() == COLUMNS
    assert row.split()[:-1] == ["full", "Stalled", "12/40", "40", "3", "~14m"]


def test_the_wide_table_has_our_columns(objects: Objects) -> None:
    status = full_status()
    objects.put(with_field(), name="full")
    objects.answer(status.document(), name="full")

    header, row = objects.table("full", "--output=wide")

    assert header.split() == COLUMNS + WIDE_COLUMNS
    assert "2026-05-04" in row
    assert "selector: pathPrefix glob" in row
    assert status.conditions[0].message in row
    assert "<" not in row


def test_requests_are_found_by_state_and_priority(objects: Objects) -> None:
    objects.put(with_field(priority="High"), name="urgent")
    objects.put(with_field(), name="full")
    objects.answer(full_status().document(), name="full")

    stalled = objects.names("--field-selector=status.state=Stalled")
    assert "full" in stalled
    assert "urgent" not in stalled
    of_high_priority = objects.names("--field-selector=spec.priority=High")
    assert "urgent" in of_high_priority
    assert "full" not in of_high_priority


def test_both_kinds_are_found_by_short_name_and_category(kinds: Cluster, namespace: str) -> None:
    for kind in Kind:
        Objects(kinds, namespace, kind).put(with_field(), name="listed")
    names = {f"{kind.value.lower()}.receipts.homebudget.dev/listed" for kind in Kind}

    for words in ("rrp,crb", "receipts"):
        listed = kinds.kubectl("--namespace", namespace, "get", words, "--output=name")
        assert names <= set(listed.split())
