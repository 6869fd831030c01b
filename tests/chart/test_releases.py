"""What a release is made from: one version everywhere, workflows that a linter takes."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from dev import folders
from tests.chart.rendering import CHART

WORKFLOWS = sorted((folders.CHECKOUT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = folders.CHECKOUT / "Dockerfile"
IMAGES = {"operator", "worker", "collector", "cli"}


def test_chart_and_package_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    package = tomllib.loads((folders.CHECKOUT / "pyproject.toml").read_text("utf-8"))

    assert {chart["version"], chart["appVersion"]} == {package["project"]["version"]}


def test_the_chart_names_every_image_that_is_built() -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    named = {part["image"]["name"] for part in values.values() if _has_an_image(part)}

    assert targets >= IMAGES
    assert named == {f"receipt-{image}" for image in IMAGES}


def _has_an_image(part: object) -> bool:
    return (
        isinstance(part, dict) and isinstance(part.get("image"), dict) and "name" in part["image"]
    )


def test_the_release_finds_what_it_fills_in() -> None:
    values = (CHART / "values.yaml").read_text("utf-8")

    assert values.count('\n  registry: ""\n') == 1
    assert values.count('\n    runbookUrl: ""\n') == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_passes_its_linter(actionlint: Path, path: Path) -> None:
    done = subprocess.run(
        [actionlint, "-no-color", str(path)], check=False, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_needs_no_secret_and_may_only_read_unless_it_says_more(path: Path) -> None:
    text = path.read_text("utf-8")
    workflow = yaml.safe_load(text)

    assert "secrets." not in text
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] for name, job in workflow["jobs"].items() if name != "names")
