"""The spec, its canonical wish and the request id."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from receipt_contract import requests
from receipt_contract.requests import Kind, RequestSpec, Target
from receipt_contract.work import WorkType
from tests.support.requests import (
    ACCEPTED,
    REFUSED,
    Accepted,
    Refused,
    for_reference,
    for_selector,
    with_field,
)

A_UID = "9b6f1c1e-2f0f-4c9c-8a52-3a7d1a9f5d10"


def spec(fields: dict[str, Any]) -> RequestSpec:
    return RequestSpec.model_validate(fields)


def identity_of(fields: dict[str, Any], **changed: Any) -> str:
    named = {
        "cluster": "home",
        "namespace": "receipts",
        "kind": Kind.CACHE_REBUILD,
        "name": "spring",
        "uid": A_UID,
        **changed,
    }
    return requests.request_identity(spec(fields), **named)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.about)
def test_a_valid_spec_is_read(case: Accepted) -> None:
    read = spec(case.spec)

    assert set(read.document()) == set(case.spec)
    assert spec(read.document()) == read


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.about)
def test_g6_what_the_api_server_refuses_is_no_spec_either(case: Refused) -> None:
    with pytest.raises(ValidationError):
        spec(case.spec)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("0001-01-01T00:00:00+05:00", id="before the first year"),
        pytest.param("9999-12-31T23:59:59-05:00", id="after the last year"),
        pytest.param("0000-01-01T00:00:00Z", id="year zero"),
        pytest.param("2026-01-01T00:00:00+99:00", id="no such zone"),
    ],
)
def test_g6_a_moment_only_the_api_server_understands_is_an_invalid_spec(moment: str) -> None:
    with pytest.raises(ValidationError):
        spec(with_field(startBefore=moment))


@pytest.mark.parametrize(
    ("fields", "request_id"),
    [
        pytest.param(
            for_reference("2024-03/shop.png"),
            "7da278a9-4511-5446-a499-70abc2ad573c",
            id="a reference",
        ),
        pytest.param(
            {"target": {"references": ["2024-03/shop.png"]}},
            "69f38f2a-8001-520a-87b0-6e137358bede",
            id="one of several",
        ),
        pytest.param(
            {"target": {"references": ["b.png", "a.png"]}},
            "f15106fd-95d1-5b0a-b081-306a9f808c1e",
            id="two references",
        ),
        pytest.param(
            for_selector(cache="Any"), "272a6424-b9f3-5568-a49f-6dea46871666", id="every receipt"
        ),
        pytest.param(
            for_selector(
                pathPrefix="2024/",
                glob="**/*.pdf",
                cache="Missing",
                cacheVersionBelow=4,
                extractionStatus=["review", "complete"],
                processedBefore="2026-01-01T01:00:00+01:00",
                transactionDate={"from": "2025-01-01", "to": "2025-12-31"},
            ),
            "5abb9598-d71e-53b1-a32c-a7d64a76041f",
            id="every field of a selector",
        ),
        pytest.param(
            {**for_selector(cache="Any"), "dryRun": True},
            "48cb883f-78d6-5c36-be21-42b9898b7404",
            id="a dry run",
        ),
        pytest.param(
            with_field(runId="2"), "2862a467-6317-57fc-bf15-146f8e666d96", id="a second run"
        ),
        pytest.param(
            {"target": {"retryFailedOf": ""}, "runId": "2"},
            "3bbb39b7-426e-59b9-87d9-96d75c2cb1c0",
            id="a retry",
        ),
        pytest.param(
            with_field(rerunPolicy="OnRecreate"),
            "a7c4f311-d4c9-5210-b8b6-eca881b87069",
            id="an object that runs anew",
        ),
        pytest.param(
            for_reference("Café/ö.png"),
            "aa44c199-cfdf-5a32-91ad-b91074fdb301",
            id="a name beyond ASCII",
        ),
    ],
)
def test_g3_a_request_id_stays_the_same_for_ever(fields: dict[str, Any], request_id: str) -> None:
    assert identity_of(fields) == request_id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            {"target": {"references": ["a", "b"]}},
            {"target": {"references": ["b", "a"]}},
            id="references in another order",
        ),
        pytest.param(
            for_selector(extractionStatus=["review", "complete"]),
            for_selector(extractionStatus=["complete", "review"]),
            id="statuses in another order",
        ),
        pytest.param(
            for_selector(processedBefore="2026-01-01T00:00:00Z"),
            for_selector(processedBefore="2026-01-01T01:00:00+01:00"),
            id="a moment in another zone",
        ),
        pytest.param(with_field(), with_field(dryRun=False), id="a dry run that is off"),
        pytest.param(with_field(), with_field(rerunPolicy="NewRunId"), id="the usual policy"),
        pytest.param(with_field(), with_field(suspend=True), id="suspended"),
        pytest.param(with_field(), with_field(cancel=True), id="cancelled"),
        pytest.param(with_field(), with_field(maxInFlight=7), id="another window"),
        pytest.param(with_field(), with_field(priority="High"), id="another priority"),
        pytest.param(with_field(), with_field(maxItems=7), id="another limit"),
        pytest.param(
            with_field(), with_field(startBefore="2026-01-01T00:00:00Z"), id="a last moment"
        ),
    ],
)
def test_g3_the_same_wish_is_the_same_request(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert identity_of(one) == identity_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(for_reference("a"), for_reference("b"), id="another reference"),
        pytest.param(
            for_reference("a"), {"target": {"references": ["a"]}}, id="a list instead of one"
        ),
        pytest.param(with_field(), with_field(runId="2"), id="another runId"),
        pytest.param(with_field(), with_field(dryRun=True), id="a dry run"),
        pytest.param(
            for_selector(glob="*"), for_selector(glob="*", cache="Any"), id="one more field"
        ),
    ],
)
def test_another_wish_is_another_request(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert identity_of(one) != identity_of(other)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"cluster": "other"}, id="cluster"),
        pytest.param({"namespace": "other"}, id="namespace"),
        pytest.param({"kind": Kind.RECEIPT_REPROCESS}, id="kind"),
        pytest.param({"name": "other"}, id="name"),
    ],
)
def test_the_same_wish_elsewhere_is_another_request(changed: dict[str, Any]) -> None:
    assert identity_of(with_field()) != identity_of(with_field(), **changed)


def test_g3_a_created_anew_object_is_the_same_request_unless_its_policy_says_so() -> None:
    usual, anew = with_field(), with_field(rerunPolicy="OnRecreate")

    assert identity_of(usual) == identity_of(usual, uid="another")
    assert identity_of(anew) != identity_of(anew, uid="another")


def test_a_wish_is_json_without_what_the_object_did_not_say() -> None:
    wish = requests.canonical_wish(spec(for_selector(extractionStatus=["review", "complete"])))

    assert json.loads(json.dumps(wish)) == {
        "format": 1,
        "target": {"selector": {"extractionStatus": ["complete", "review"]}},
    }


def test_a_stored_wish_gives_its_target_back() -> None:
    fields = for_selector(pathPrefix="2024/", transactionDate={"from": "2024-01-01"})
    wish = requests.canonical_wish(spec(fields))

    assert Target.model_validate(wish["target"]) == spec(fields).target


def test_an_absent_run_id_is_the_empty_one() -> None:
    assert spec(with_field()).run_id == ""


@pytest.mark.parametrize(
    ("target", "summary"),
    [
        pytest.param({"reference": "2024/a.png"}, "2024/a.png", id="a reference"),
        pytest.param(
            {"reference": f"2024/{'x' * 80}/shop.png"},
            f"2024/{'x' * 25}…{'x' * 20}/shop.png",
            id="a long reference loses its middle",
        ),
        pytest.param({"references": ["b"]}, "1 reference", id="a list of one"),
        pytest.param({"references": ["b", "a"]}, "2 references", id="several"),
        pytest.param(
            {"selector": {"glob": "*", "cache": "Any"}}, "selector: glob cache", id="a selector"
        ),
        pytest.param({"retryFailedOf": "one"}, "failed of one", id="a retry"),
        pytest.param({"retryFailedOf": ""}, "failed of (no runId)", id="a retry of the first run"),
    ],
)
def test_a_target_has_a_short_text(target: dict[str, Any], summary: str) -> None:
    assert Target.model_validate(target).summary == summary
    assert len(summary) <= requests.MAX_SUMMARY_LENGTH


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        pytest.param("abcdef", 6, "abcdef", id="as long as allowed"),
        pytest.param("abcdefg", 6, "abc…fg", id="one too long"),
        pytest.param("abcdefg", 5, "ab…fg", id="an odd limit"),
    ],
)
def test_a_long_text_loses_its_middle(text: str, limit: int, short: str) -> None:
    assert requests.shorten(text, limit) == short


def test_each_kind_has_its_work() -> None:
    assert Kind.RECEIPT_REPROCESS.work_type is WorkType.REPROCESS
    assert Kind.CACHE_REBUILD.work_type is WorkType.CACHE_REBUILD
