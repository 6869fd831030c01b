"""What Helm makes of the chart with given values, as objects."""

import functools
import subprocess
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dev import folders

CHART = folders.CHECKOUT / "charts" / "receipts"
CASES = sorted((CHART / "ci").glob("*-values.yaml"))
DEFAULT = CHART / "ci" / "default-values.yaml"
EVERYTHING = CHART / "ci" / "everything-values.yaml"
RELEASE = "shop"
NAMESPACE = "receipts"
OLDEST_KUBERNETES = "1.32.0"

# Kinds that hold pods, and the way to them.
_POD_PATHS = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}

Object = Mapping[str, Any]


class HelmError(Exception):
    """Helm refused; the text is its own."""


def run(helm: Path, *args: str) -> str:
    """Run Helm and return what it prints. Raises HelmError."""
    done = subprocess.run([str(helm), *args], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise HelmError(done.stderr + done.stdout)
    return done.stdout


def text(helm: Path, values: Path, *settings: str) -> str:
    """Render the chart; a setting is what `--set` takes. Raises HelmError."""
    return run(
        helm,
        *("template", RELEASE, str(CHART), "--namespace", NAMESPACE),
        *("--kube-version", OLDEST_KUBERNETES, "--values", str(values)),
        *(part for setting in settings for part in ("--set", setting)),
    )


@functools.cache
def objects(helm: Path, values: Path, *settings: str) -> Sequence[Object]:
    """Render the chart to objects. Raises HelmError, and ValueError for a key given twice.

    Tests share what they get, so they only read it.
    """
    documents = yaml.load_all(text(helm, values, *settings), Loader=_Strict)
    return [document for document in documents if document]


def of_kind(rendered: Sequence[Object], kind: str) -> list[Object]:
    return [one for one in rendered if one["kind"] == kind]


def component(one: Object) -> str:
    """Return the part of the release that an object belongs to."""
    return str(one["metadata"]["labels"]["app.kubernetes.io/component"])


def pods(rendered: Sequence[Object]) -> Iterator[tuple[str, Object]]:
    """Yield each pod of the release with its component's name."""
    for one in rendered:
        if one["kind"] in _POD_PATHS:
            pod = one
            for step in _POD_PATHS[one["kind"]]:
                pod = pod[step]
            yield component(one), pod["spec"]


class _Strict(yaml.CSafeLoader):
    """Refuses what YAML parsers silently resolve to the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT002 - the signature of the base
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key stands twice: {keys}")
        return super().construct_mapping(node, deep)
