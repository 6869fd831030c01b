"""Policies that people agree on, judged by Checkov over everything that is rendered."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.chart import rendering
from tests.chart.rendering import CASES

EVERYTHING = ""
DOCTOR = r"-doctor$"
TRIAL = r"-trial-"
# Each policy that is not kept, in the names of which objects, and why.
NOT_KEPT: Mapping[str, str] = {
    "CKV_K8S_11": EVERYTHING,  # a limit of processors slows a pod though processors are free
    "CKV_K8S_43": EVERYTHING,  # a digest is a value; the chart cannot know it
    "CKV_K8S_15": EVERYTHING,  # how images are pulled is a value, and tags do not move
    "CKV_K8S_35": EVERYTHING,  # programs read their settings, addresses too, from the environment
    "CKV_K8S_38": r"Deployment.*-operator$",  # the one that speaks to the API server
    "CKV_K8S_9": DOCTOR,  # it ends by itself
    "CKV_K8S_8": f"{DOCTOR}|{TRIAL}",  # as before; a trial is for a look
    "CKV_K8S_40": TRIAL,  # the accounts of its images
    "CKV2_K8S_6": EVERYTHING,  # a value switches the network policies on
    "CKV_K8S_21": r"-extra$",  # further objects say their own namespace
}


def _failed(checkov: Path, rendered: Path) -> set[tuple[str, str]]:
    """Return each policy that something does not keep to, with its name and what does not."""
    done = subprocess.run(
        [
            *(str(checkov), "--file", str(rendered), "--framework", "kubernetes"),
            *("--skip-download", "--quiet", "--compact", "--output", "json"),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["summary"]["passed"] > 0
    assert report["summary"]["parsing_errors"] == 0
    return {
        (one["check_id"], f"{one['check_name']}: {one['resource']}")
        for one in report["results"]["failed_checks"]
    }


def _is_meant(policy: str, what: str) -> bool:
    return policy in NOT_KEPT and re.search(NOT_KEPT[policy], what) is not None


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_no_policy_is_broken_but_those_that_are_named(
    checkov: Path, helm: Path, values: Path, tmp_path: Path
) -> None:
    rendered = tmp_path / "rendered.yaml"
    rendered.write_text(rendering.text(helm, values), encoding="utf-8")

    failed = _failed(checkov, rendered)

    assert {one for one in failed if not _is_meant(*one)} == set()


def test_a_pod_with_too_many_rights_is_noticed(checkov: Path, tmp_path: Path) -> None:
    rendered = tmp_path / "rendered.yaml"
    container = {"name": "one", "image": "one", "securityContext": {"privileged": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}}
    rendered.write_text(json.dumps({**pod, "spec": {"containers": [container]}}), encoding="utf-8")

    assert "CKV_K8S_16" in {policy for policy, _ in _failed(checkov, rendered)}
