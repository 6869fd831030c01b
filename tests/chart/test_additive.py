"""A newer definition takes every object that an older one took."""

import copy
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from dev import folders

CRDS = sorted((folders.CHECKOUT / "crds").glob("*.yaml"))
_UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
_LOWER = ("minimum", "minLength", "minItems", "minProperties")


def _losses(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield what the newer schema refuses although the older one took it."""
    yield from _lost_fields(old, new, path)
    yield from _lost_values(old, new, path)
    for name, child in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            yield from _losses(child, new["properties"][name], f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(old.get(word), dict) and isinstance(new.get(word), dict):
            yield from _losses(old[word], new[word], f"{path}[]")


def _lost_fields(old: Any, new: Any, path: str) -> Iterator[str]:
    for name in old.get("properties", {}):
        if name not in new.get("properties", {}):
            yield f"{path}.{name}: gone"
    for name in set(new.get("required", [])) - set(old.get("required", [])):
        yield f"{path}.{name}: newly required"


def _lost_values(old: Any, new: Any, path: str) -> Iterator[str]:
    if old.get("type") != new.get("type"):
        yield f"{path}: another type"
    if new.get("enum") and set(old.get("enum") or ["anything"]) - set(new["enum"]):
        yield f"{path}: fewer values"
    if new.get("pattern") not in {None, old.get("pattern")}:
        yield f"{path}: another pattern"
    for word in _UPPER:
        if word in new and new[word] < old.get(word, float("inf")):
            yield f"{path}: a lower {word}"
    for word in _LOWER:
        if word in new and new[word] > old.get(word, 0):
            yield f"{path}: a higher {word}"


def _schema(definition: Any) -> Any:
    [version] = definition["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def _git(*args: str) -> str | None:
    done = subprocess.run(
        ["git", *args], check=False, capture_output=True, text=True, cwd=folders.CHECKOUT
    )
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize("path", CRDS, ids=lambda path: path.stem)
def test_a_kind_takes_everything_that_the_last_release_took(path: Any) -> None:
    tag = (_git("describe", "--tags", "--abbrev=0", "--match", "v*") or "").strip()
    released = _git("show", f"{tag}:crds/{path.name}") if tag else None
    if released is None:
        pytest.skip("nothing was released yet")

    old, new = yaml.safe_load(released), yaml.safe_load(path.read_text("utf-8"))

    assert list(_losses(_schema(old), _schema(new))) == []
    assert [one["name"] for one in old["spec"]["versions"]] == [
        one["name"] for one in new["spec"]["versions"]
    ]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a field that is gone": lambda spec: spec["properties"].pop("runId"),
    "a field that is newly required": lambda spec: spec.update(required=["runId", "target"]),
    "a value that is gone": lambda spec: spec["properties"]["priority"]["enum"].pop(),
    "a lower limit": lambda spec: spec["properties"]["runId"].update(maxLength=10),
    "a higher limit": lambda spec: spec["properties"]["maxInFlight"].update(minimum=5),
    "another type": lambda spec: spec["properties"]["suspend"].update(type="string"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_would_refuse_old_objects_is_noticed(change: Callable[[Any], Any]) -> None:
    old = _schema(yaml.safe_load(CRDS[0].read_text("utf-8")))
    new = copy.deepcopy(old)
    change(new["properties"]["spec"])

    assert len(list(_losses(old, new))) == 1


def test_a_new_field_and_a_new_value_are_welcome() -> None:
    old = _schema(yaml.safe_load(CRDS[0].read_text("utf-8")))
    new = copy.deepcopy(old)
    spec = new["properties"]["spec"]["properties"]
    spec["another"] = {"type": "string", "maxLength": 10}
    spec["priority"]["enum"].append("Highest")

    assert list(_losses(old, new)) == []
