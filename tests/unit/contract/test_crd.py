"""The rendered definitions: bounded, described, without defaults where Git would see drift."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from receipt_contract import crd
from receipt_contract.requests import Kind

KINDS = pytest.mark.parametrize("kind", Kind, ids=str)


class Field(NamedTuple):
    path: str
    schema: dict[str, Any]


def version(kind: Kind) -> dict[str, Any]:
    versions: list[dict[str, Any]] = crd.render(kind)["spec"]["versions"]
    (only,) = versions
    return only


def fields(kind: Kind) -> list[Field]:
    """Return every field below spec and status, list elements included."""
    properties = version(kind)["schema"]["openAPIV3Schema"]["properties"]
    return [found for part in ("spec", "status") for found in walk(Field(part, properties[part]))]


def walk(field: Field) -> Iterator[Field]:
    yield field
    for name, schema in field.schema.get("properties", {}).items():
        yield from walk(Field(f"{field.path}.{name}", schema))
    if "items" in field.schema:
        yield from walk(Field(f"{field.path}[]", field.schema["items"]))


def is_bounded(schema: dict[str, Any]) -> bool:
    match schema["type"]:
        case "string":
            return bool({"maxLength", "enum", "format"} & schema.keys())
        case "integer":
            return {"minimum", "maximum"} <= schema.keys()
        case "array":
            return "maxItems" in schema
        case _:
            return schema["type"] in {"object", "boolean"}


@KINDS
def test_g7_every_field_is_bounded(kind: Kind) -> None:
    assert [field.path for field in fields(kind) if not is_bounded(field.schema)] == []


@KINDS
def test_every_field_is_described_for_kubectl_explain(kind: Kind) -> None:
    named = [field for field in fields(kind) if not field.path.endswith("[]")]

    assert [field.path for field in named if not field.schema.get("description")] == []


@KINDS
def test_the_spec_has_no_defaults_that_git_would_see_as_drift(kind: Kind) -> None:
    with_default = [field.path for field in fields(kind) if "default" in field.schema]

    assert with_default == ["status"]


@KINDS
def test_every_list_says_how_it_is_merged(kind: Kind) -> None:
    types = {
        field.path: field.schema["x-kubernetes-list-type"]
        for field in fields(kind)
        if field.schema["type"] == "array"
    }

    assert types == {
        "spec.target.references": "set",
        "spec.target.selector.extractionStatus": "set",
        "status.conditions": "map",
        "status.failures.byReason": "map",
        "status.failures.samples": "atomic",
        "status.history": "atomic",
    }


@KINDS
def test_every_rule_stands_at_its_field(kind: Kind) -> None:
    ruled = {field.path for field in fields(kind) if "x-kubernetes-validations" in field.schema}

    assert ruled == crd.RULES.keys()


@KINDS
def test_every_column_reads_a_field_that_exists(kind: Kind) -> None:
    known = {f".{field.path}" for field in fields(kind)} | {".metadata.creationTimestamp"}
    columns = version(kind)["additionalPrinterColumns"]
    plain = [column["jsonPath"] for column in columns if "[?" not in column["jsonPath"]]
    selectable = [field["jsonPath"] for field in version(kind)["selectableFields"]]

    assert set(plain + selectable) <= known


def test_the_two_kinds_ask_and_answer_alike() -> None:
    one, other = (
        {name: version(kind)["schema"]["openAPIV3Schema"]["properties"][name] for name in parts}
        for kind in Kind
        for parts in [("spec", "status", "metadata")]
    )

    assert one == other
