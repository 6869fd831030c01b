"""The chart as Helm sees it: both lines render the same, and every value has a reader."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.helm import programs
from dev.helm.programs import Program
from tests.chart import rendering
from tests.chart.rendering import CASES, CHART, DEFAULT, EVERYTHING

# Since draft 7; Helm 3 passes them over without a word.
_TOO_NEW = {
    *("unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas"),
    *("prefixItems", "$defs", "minContains", "maxContains", "$dynamicRef", "$anchor"),
}
# What renders differently from one run to the next, or in Argo CD.
_UNSTABLE = re.compile(
    r"\b(lookup|rand\w+|gen(CA|SelfSignedCert|SignedCert|PrivateKey)|uuidv4|now|"
    r"Release\.IsUpgrade|Release\.IsInstall|Release\.Revision|Capabilities\.APIVersions)\b"
)


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_a_strict_lint_passes(each_helm: Path, values: Path) -> None:
    rendering.run(each_helm, "lint", "--strict", str(CHART), "--values", str(values))


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_both_helms_render_the_same_objects(each_helm: Path, helm: Path, values: Path) -> None:
    assert rendering.objects(each_helm, values) == rendering.objects(helm, values)


def test_the_chart_works_inside_another_chart(helm: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    (outer / "charts").mkdir(parents=True)
    (outer / "charts" / "receipts").symlink_to(CHART)
    (outer / "Chart.yaml").write_text("{apiVersion: v2, name: outer, version: 0.0.1}")
    values = {"global": {"any": "thing"}, "receipts": yaml.safe_load(DEFAULT.read_text())}
    (outer / "values.yaml").write_text(json.dumps(values))

    rendered = rendering.run(helm, "template", "shop", str(outer), "--kube-version", "1.32")

    assert "kind: Deployment" in rendered


def test_no_template_asks_for_what_differs_from_run_to_run() -> None:
    found = [
        f"{path.name}: {match[0]}"
        for path in (CHART / "templates").rglob("*.*")
        for match in _UNSTABLE.finditer(path.read_text("utf-8"))
    ]

    assert found == []


def test_the_schema_knows_every_value_and_uses_words_that_helm_3_knows() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))

    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert set(_keywords(schema)) & _TOO_NEW == set()
    assert set(_names(values)) <= set(_schema_names(schema, schema))
    assert list(_open_objects(schema)) == []


def test_every_value_has_a_template_that_reads_it() -> None:
    templates = "".join(
        path.read_text("utf-8")
        for folder in ("templates", "files/alerts")
        for path in (CHART / folder).rglob("*.*")
    )
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    names = {name.rpartition(".")[2] for name in _names(values)} - {"global"}

    assert {name for name in names if not re.search(rf"[.\"]{name}\b", templates)} == set()


def test_everything_is_switched_on_in_the_fullest_case(helm: Path) -> None:
    kinds = {one["kind"] for values in CASES for one in rendering.objects(helm, values)}
    fullest = {one["kind"] for one in rendering.objects(helm, EVERYTHING)}

    assert kinds - fullest == {
        *("Vhost", "Exchange", "Queue", "Binding", "Policy", "User", "Permission"),
        *("Secret", "Service", "StatefulSet"),
    }


def test_a_package_holds_the_same_chart(helm: Path, tmp_path: Path) -> None:
    rendering.run(helm, "package", str(CHART), "--destination", str(tmp_path))
    [package] = tmp_path.glob("*.tgz")

    rendered = rendering.run(
        helm,
        *("template", rendering.RELEASE, str(package), "--namespace", rendering.NAMESPACE),
        *("--kube-version", rendering.OLDEST_KUBERNETES, "--values", str(DEFAULT)),
    )

    assert rendered == rendering.text(helm, DEFAULT)
    assert package.stat().st_size < 200_000  # a release is kept in a Secret of at most 1 MiB


def test_the_pinned_programs_are_of_both_lines() -> None:
    pins = {
        program: (Path(programs.__file__).parent / program.folder / "go.mod").read_text("utf-8")
        for program in (Program.HELM_3, Program.HELM_4)
    }

    assert "helm.sh/helm/v3 v3." in pins[Program.HELM_3]
    assert "helm.sh/helm/v4 v4." in pins[Program.HELM_4]


def _names(values: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted name of every value of ours, not of the maps that users fill."""
    if isinstance(values, dict) and values:
        for name, value in values.items():
            if prefix.endswith(("resources", "labels")):
                continue
            yield f"{prefix}.{name}".strip(".")
            yield from _names(value, f"{prefix}.{name}".strip("."))


def _schema_names(node: Any, root: Any, prefix: str = "") -> Iterator[str]:
    reference = node.get("$ref")
    node = root["definitions"][reference.rpartition("/")[2]] if reference else node
    for name, child in node.get("properties", {}).items():
        yield f"{prefix}.{name}".strip(".")
        yield from _schema_names(child, root, f"{prefix}.{name}".strip("."))


def _keywords(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node
        for child in node.values():
            yield from _keywords(child)


def _open_objects(node: Any, path: str = "") -> Iterator[str]:
    """Yield objects with names of ours that would take any other name too."""
    if isinstance(node, dict):
        if "properties" in node and node.get("additionalProperties") is not False:
            yield path
        for name, child in node.items():
            yield from _open_objects(child, f"{path}.{name}")
