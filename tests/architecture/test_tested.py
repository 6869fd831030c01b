"""The table of what is tested on a real API server: nothing is missing, and all of it exists."""

import re
from pathlib import Path

import pytest

from dev import fields_page
from receipt_contract.errors import Reason
from receipt_contract.status import (
    ConditionReason,
    ConditionType,
    EtaBasis,
    Kept,
    RequestStatus,
    State,
)
from tests.system import test_coming_back

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "docs/tested.md"

# What each table has to name, by its heading; one without an entry here may name anything.
NAMED = {
    "Fields of a request": set(fields_page.EXAMPLES),
    "Fields of a status": {
        field.alias or name for name, field in RequestStatus.model_fields.items()
    },
    "States": {*State},
    "Conditions": {*ConditionType},
    "Reasons of conditions": {*ConditionReason},
    "Why an object is kept": {*Kept},
    "Estimates": {*EtaBasis},
    "Reasons of receipts": {*Reason},
}
WAYS = "Ways of coming back"
# Work and its results pass the same code with and without an object.
SHOWN_ELSEWHERE = {"Reasons of receipts"}

_REAL = ("tests/system", "tests/gitops")
_ROW = re.compile(r"^\| (?!---)(.+?) \| (.+) \|$", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")
_TEST = re.compile(r"`(test_\w+)`")
_DEFINED = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def _tables() -> dict[str, list[tuple[str, str]]]:
    """Return the rows below each heading: what is tested, and by which tests."""
    sections = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    titles, texts = sections[1::2], sections[2::2]
    return {title: _ROW.findall(text)[1:] for title, text in zip(titles, texts, strict=True)}


def _defined(*folders: str) -> set[str]:
    return {
        name
        for folder in folders
        for path in (CHECKOUT / folder).rglob("test_*.py")
        for name in _DEFINED.findall(path.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("title", NAMED)
def test_a_table_names_all_there_is_and_nothing_else(title: str) -> None:
    named = [name for what, _ in _tables()[title] for name in _NAME.findall(what)]

    assert sorted(named) == sorted(NAMED[title])


def test_every_way_of_coming_back_that_is_tried_is_named() -> None:
    named = {what for what, _ in _tables()[WAYS]}

    assert set(test_coming_back.WAYS) <= named


@pytest.mark.parametrize("title", [*NAMED, WAYS])
def test_every_row_names_a_test_on_a_real_api_server(title: str) -> None:
    there = _defined("tests") if title in SHOWN_ELSEWHERE else _defined(*_REAL)
    rows = {what: set(_TEST.findall(shown)) for what, shown in _tables()[title]}

    assert {what: tests - there for what, tests in rows.items() if not tests <= there} == {}
    assert [what for what, tests in rows.items() if not tests] == []
