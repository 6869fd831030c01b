"""The example for Argo CD and the one in the documents install what the chart takes."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev import folders
from receipt_contract.requests import RequestSpec
from tests.chart import rendering
from tests.chart.rendering import CHART

APPLICATION = folders.CHECKOUT / "examples" / "argocd" / "chart" / "application.yaml"
INSTALL = folders.CHECKOUT / "docs" / "install.md"


def _application() -> Mapping[str, Any]:
    document: Mapping[str, Any] = yaml.safe_load(APPLICATION.read_text("utf-8"))
    return document


def _in_the_document() -> Mapping[str, Any]:
    [block] = re.findall(r"```yaml\n(.*?)```", INSTALL.read_text("utf-8"), re.DOTALL)
    values: Mapping[str, Any] = yaml.safe_load(block)
    return values


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(_application()["spec"]["source"]["helm"]["valuesObject"], id="Argo CD"),
        pytest.param(_in_the_document(), id="docs/install.md"),
    ],
)
def test_values_of_an_example_are_taken(
    helm: Path, tmp_path: Path, values: Mapping[str, Any]
) -> None:
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump(values))

    assert rendering.of_kind(rendering.objects(helm, path), "Deployment")


def test_the_application_is_called_as_its_release() -> None:
    application = _application()

    assert application["metadata"]["name"] == application["spec"]["source"]["helm"]["releaseName"]


def test_a_first_try_as_the_document_has_it_is_taken(helm: Path) -> None:
    command, *_ = re.findall(
        r"helm install receipts .*?\n```", INSTALL.read_text("utf-8"), re.DOTALL
    )
    settings = re.findall(r"--set (\S+)", command)
    settings = [one if "$(" not in one else "trial.password=0123456789abcdef" for one in settings]
    nothing = Path("/dev/null")

    rendered = rendering.objects(helm, nothing, *settings)

    assert {one["kind"] for one in rendered} >= {"StatefulSet", "PersistentVolumeClaim"}


def test_the_request_that_the_notes_suggest_is_one_that_is_taken() -> None:
    notes = (CHART / "templates" / "NOTES.txt").read_text("utf-8")
    [spec] = re.findall(r"'(spec: .*?)'", notes)

    assert RequestSpec.model_validate(yaml.safe_load(spec)["spec"]).dry_run
