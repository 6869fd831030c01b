"""The documents: links lead somewhere, and what can be checked in them is true."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from receipt_cli.app import app
from receipt_contract.requests import Kind, RequestSpec
from receipt_contract.status import ConditionType, State
from receipt_worker.document import ReviewReason
from receipt_worker.extraction.identities import Evidence
from tests.support import ledger

CHECKOUT = Path(__file__).resolve().parent.parent.parent

_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_TEST_NAME = re.compile(r"`(test_\w+)`")
_MANIFEST = re.compile(r"```yaml\n(.*?)```", re.DOTALL)


def _documents() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.md"], check=True, capture_output=True, text=True, cwd=CHECKOUT
    ).stdout
    return [name for name in listed.split("\0") if name and (CHECKOUT / name).is_file()]


def _text(name: str) -> str:
    return (CHECKOUT / name).read_text("utf-8")


@pytest.mark.parametrize("name", _documents())
def test_every_link_leads_somewhere(name: str) -> None:
    folder = (CHECKOUT / name).parent

    assert [one for one in _LINK.findall(_text(name)) if not (folder / one).exists()] == []


def test_every_test_that_is_named_exists() -> None:
    named = {test for name in _documents() for test in _TEST_NAME.findall(_text(name))}
    written = "\n".join(path.read_text("utf-8") for path in (CHECKOUT / "tests").rglob("*.py"))

    assert {test for test in named if f"def {test}(" not in written} == set()


def test_every_manifest_in_the_readme_is_a_wish_that_is_taken() -> None:
    manifests = [yaml.safe_load(text) for text in _MANIFEST.findall(_text("README.md"))]

    assert {Kind(one["kind"]) for one in manifests} == set(Kind)
    for one in manifests:
        RequestSpec.model_validate(one["spec"])


@pytest.mark.parametrize("word", sorted({*State, *ConditionType}))
def test_every_state_and_condition_is_explained(word: str) -> None:
    assert f"`{word}`" in _text("docs/requests.md")


@pytest.mark.parametrize("field", sorted(RequestSpec.model_json_schema()["properties"]))
def test_every_field_of_a_request_is_explained(field: str) -> None:
    assert f"`{field}" in _text("docs/requests.md")


@pytest.mark.parametrize("word", sorted({*ReviewReason, *Evidence}))
def test_every_reason_for_review_and_kind_of_evidence_is_explained(word: str) -> None:
    assert f"| `{word}` |" in _text("docs/reading.md")


def _commands(command: Any, name: str = "ledger") -> Iterator[str]:
    """Yield every command; a group has `commands` (typer brings a click of its own)."""
    if not hasattr(command, "commands"):
        yield name
        return
    for child, one in command.commands.items():
        yield from _commands(one, f"{name} {child}")


@pytest.mark.parametrize("command", sorted(_commands(get_command(app))))
def test_every_command_is_documented_and_has_an_example(command: str) -> None:
    ran = ledger.run(*command.split()[1:], "--help")

    assert ran.code == 0
    assert "Examples:" in ran.stdout
    assert f"`{command}" in _text("docs/ledger.md")
