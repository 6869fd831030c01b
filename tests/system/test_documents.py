"""The pages for users on a real API server: their manifests, their commands, what they wait for.

No operator runs here. The statuses are those it writes, so that each stands still while it is
looked at.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from dev import folders
from dev.fields_page import EXAMPLES
from dev.kubernetes import kubectl
from dev.kubernetes.cluster import Cluster
from dev.kubernetes.kubectl import KubectlError
from receipt_contract.requests import API_VERSION, Kind
from receipt_contract.status import ConditionReason
from receipt_operator.facts import Facts, Obstacle
from receipt_operator.register.rows import Counts
from receipt_operator.status import status_of
from tests.support import stored
from tests.support.facts import (
    BEGAN,
    make_facts,
    make_finished,
    make_observed,
    make_planning,
    make_request,
)
from tests.support.requests import NOON

pytestmark = pytest.mark.cluster

PAGES = ("README.md", "docs/how-to.md")
HOW_TO = "docs/how-to.md"

_MANIFEST = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
_SCRIPT = re.compile(r"```sh\n(.*?)```", re.DOTALL)
_WAIT = re.compile(r"^\| (.+?) \| `(kubectl wait .+?)` \|$", re.MULTILINE)
# What a page does to objects is tried, and not done.
_KUBECTL = """\
#!/bin/sh
case "$1" in
  annotate | apply | create | delete | patch) exec {kubectl} "$@" --dry-run=server ;;
  *) exec {kubectl} "$@" ;;
esac
"""


def _text(page: str) -> str:
    return (folders.CHECKOUT / page).read_text(encoding="utf-8")


def _sections(page: str) -> Iterator[tuple[str, str]]:
    """Yield the scripts of a page, each with the title it stands under."""
    for section in _text(page).split("\n## ")[1:]:
        scripts = _SCRIPT.findall(section)
        if scripts:
            yield section.partition("\n")[0], "\n".join(scripts)


# Statuses, each of an object of its own


def _ended(result: ConditionReason, **counts: int) -> Facts:
    return make_facts(make_finished(make_observed(), result=result, counts=Counts(**counts)))


def _running(**counts: int) -> Facts:
    return make_facts(make_request(counts=Counts(**counts), started_at=BEGAN))


SENDING = _running(planned=3, published=2, confirmed=2)
FACTS = {
    "planning": make_facts(make_planning()),
    "sending": SENDING,
    "all-sent": _running(published=2, confirmed=2),
    "none-on-its-way": _running(planned=3),
    "suspended": make_facts(stored.suspended(make_request())),
    "stalled": replace(SENDING, obstacle=Obstacle(ConditionReason.BROKER_UNAVAILABLE, NOON)),
    "succeeded": _ended(ConditionReason.COMPLETED, done=2, confirmed=2),
    "partially-failed": _ended(ConditionReason.PARTIALLY_FAILED, done=1, failed=1, confirmed=2),
    "failed": _ended(ConditionReason.FAILED, failed=2, confirmed=2),
    "cancelled": _ended(ConditionReason.CANCELLED, failed=2, confirmed=1),
    "expired": _ended(ConditionReason.EXPIRED),
    "invalid": _ended(ConditionReason.SELECTOR_TOO_LARGE),
}


class Case(NamedTuple):
    """An object for which a command returns at once, and one for which it goes on waiting."""

    over: str
    waiting: str


CASES = {
    "ended, well or not": Case("partially-failed", "sending"),
    "ended as `Succeeded`": Case("succeeded", "failed"),
    "ended badly, in any way": Case("cancelled", "succeeded"),
    "ended as `PartiallyFailed`": Case("partially-failed", "failed"),
    "ended as `Failed`": Case("failed", "partially-failed"),
    "ended as `Cancelled`": Case("cancelled", "failed"),
    "ended as `Expired`": Case("expired", "invalid"),
    "ended as `Invalid`": Case("invalid", "expired"),
    "is planned: `Queued`, `Publishing` or later": Case("sending", "planning"),
    "has all sent: `Running` or later": Case("all-sent", "sending"),
    "is `Suspended`": Case("suspended", "sending"),
    "has nothing on its way": Case("none-on-its-way", "sending"),
    "is `Stalled`, or ended badly": Case("stalled", "sending"),
    "is gone": Case("never-there", "sending"),
}


class Shown(NamedTuple):
    """A namespace with objects that have these statuses."""

    cluster: Cluster
    namespace: str

    def kubectl(self, *args: str, text: str = "") -> str:
        return self.cluster.kubectl("--namespace", self.namespace, *args, text=text)

    def waits(self, command: str, name: str) -> bool:
        """Whether a command that waits for an object has to go on waiting."""
        asked = re.sub(r"--timeout=\S+", "--timeout=0", command.replace("spring-receipts", name))
        _, *args = shlex.split(asked)
        try:
            self.kubectl(*args)
        except KubectlError as error:
            if not str(error).startswith("error: condition not met for"):
                raise
            return True
        return False


@pytest.fixture(scope="module")
def shown(kinds: Cluster, namespace: str) -> Shown:
    """Give an object of each status, and those that the page speaks of."""
    made = Shown(kinds, namespace)
    objects = [*starmap(_object, FACTS.items()), *_objects_of_the_page()]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    made.kubectl("create", "--save-config", "--filename=-", text=text)
    made.kubectl("replace", "--subresource=status", "--filename=-", text=text)
    return made


def _object(name: str, facts: Facts) -> dict[str, Any]:
    return stored.as_stored(facts) | {"metadata": {"name": name}}


def _objects_of_the_page() -> list[dict[str, Any]]:
    """Return each object at its first appearance, with a request that is done."""
    first: dict[str, dict[str, Any]] = {}
    for document in map(yaml.safe_load, _MANIFEST.findall(_text(HOW_TO))):
        first.setdefault(document["metadata"]["name"], document)
    return [{**one, "status": status_of(FACTS["succeeded"])} for one in first.values()]


@pytest.mark.parametrize("page", PAGES)
def test_a_manifest_on_a_page_is_accepted(shown: Shown, page: str) -> None:
    manifests = [text for text in _MANIFEST.findall(_text(page)) if "apiVersion" in text]

    shown.kubectl(
        *("create", "--dry-run=server", "--validate=strict", "--filename=-"),
        text="\n---\n".join(_with_a_name_of_its_own(text) for text in manifests),
    )

    assert manifests


def _with_a_name_of_its_own(manifest: str) -> str:
    document = yaml.safe_load(manifest)
    del document["metadata"]["name"]
    document["metadata"]["generateName"] = "shown-"
    return yaml.safe_dump(document)


def test_every_example_of_a_field_is_accepted(shown: Shown) -> None:
    objects = [_example(path, yaml.safe_load(text)) for path, text in EXAMPLES.items()]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, default=_moment)

    shown.kubectl("create", "--dry-run=server", "--validate=strict", "--filename=-", text=text)


def _moment(read: date) -> str:
    """Undo what YAML makes of a moment in Python, and not for Kubernetes."""
    return read.isoformat()


def _example(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    return {
        "apiVersion": API_VERSION,
        "kind": Kind.RECEIPT_REPROCESS.value,
        "metadata": {"generateName": "example-"},
        "spec": {"target": {"reference": "a.png"}, **value},
    }


@pytest.mark.parametrize(
    "script", [pytest.param(script, id=title) for title, script in _sections(HOW_TO)]
)
def test_the_commands_of_a_section_run(shown: Shown, script: str, tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text(_MANIFEST.findall(_text(HOW_TO))[0], encoding="utf-8")
    command = f"{kubectl.find()} --kubeconfig {shown.cluster.kubeconfig()}"
    stand_in = tmp_path / "kubectl"
    stand_in.write_text(_KUBECTL.format(kubectl=f"{command} --namespace {shown.namespace}"))
    stand_in.chmod(0o755)

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)},
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("until", "command"), [pytest.param(*row, id=row[0]) for row in _WAIT.findall(_text(HOW_TO))]
)
def test_a_command_waits_for_what_the_page_says(shown: Shown, until: str, command: str) -> None:
    case = CASES[until]

    assert not shown.waits(command, case.over)
    assert shown.waits(command, case.waiting)


def test_the_end_of_an_earlier_run_id_does_not_count(shown: Shown) -> None:
    finished = "kubectl wait --for=condition=Finished rrp/spring-receipts --timeout=1h"
    ended = shown.waits(finished, "cancelled")
    shown.kubectl("patch", "rrp", "cancelled", "--type=merge", '--patch={"spec":{"runId":"new"}}')

    assert not ended
    assert shown.waits(finished, "cancelled")
