"""Builders for objects of the two kinds, and the specs that are accepted and refused.

The API server and the models judge the same specs; both are tested with these tables.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from receipt_contract import status as answers
from receipt_contract.errors import Reason
from receipt_contract.requests import API_VERSION, Kind, Priority, RerunPolicy
from receipt_contract.status import (
    Condition,
    ConditionReason,
    ConditionStatus,
    ConditionType,
    RequestStatus,
    State,
)

NOON = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
A_REQUEST_ID = "3d1f9c62-7c0b-5b8e-9a55-0d4c3a2b1f60"

PATH_RULE = (
    "a reference is a path below the receipts root: "
    "no leading or double slash, no backslash, no '.' or '..' segment"
)
GLOB_RULE = PATH_RULE.replace("a reference", "a glob")
PREFIX_RULE = PATH_RULE.replace("a reference is", "a path prefix starts")
ONE_TARGET = "set exactly one of reference, references, selector, retryFailedOf"
ONE_SELECTOR_FIELD = "a selector needs at least one field; to take every receipt write cache: Any"


class Accepted(NamedTuple):
    """A spec that both accept."""

    about: str
    spec: dict[str, Any]


class Refused(NamedTuple):
    """A spec that both refuse, and what the API server says."""

    about: str
    spec: dict[str, Any]
    answer: str


def manifest(kind: Kind, spec: dict[str, Any], *, name: str = "some-receipts") -> str:
    """Return an object as JSON, which kubectl reads like YAML."""
    metadata = {"name": name}
    return json.dumps({"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec})


def for_reference(reference: str) -> dict[str, Any]:
    """Return a spec for one receipt."""
    return {"target": {"reference": reference}}


def for_selector(**fields: Any) -> dict[str, Any]:
    """Return a spec with a selector of these fields."""
    return {"target": {"selector": fields}}


def with_field(**fields: Any) -> dict[str, Any]:
    """Return a valid spec with these fields besides its target."""
    return {**for_reference("2024-03/shop.png"), **fields}


ACCEPTED = (
    Accepted("one reference", for_reference("2024-03/shop.png")),
    Accepted("a reference at the top", for_reference("shop.png")),
    Accepted("a hidden name", for_reference(".inbox/..shop...png")),
    Accepted("spaces, umlauts and a line break", for_reference("Café 2/a b\nc.png")),
    Accepted("the longest reference", for_reference("ä" * 400)),
    Accepted("one of several", {"target": {"references": ["a.png"]}}),
    Accepted(
        "500 of the longest references",
        {"target": {"references": [f"{number:03}/{'x' * 396}" for number in range(500)]}},
    ),
    Accepted("a folder as prefix", for_selector(pathPrefix="2024-03/")),
    Accepted("the start of a name as prefix", for_selector(pathPrefix="2024-0")),
    Accepted("a glob", for_selector(glob="**/*.[pP]df")),
    Accepted("any cache", for_selector(cache="Any")),
    Accepted("no cache", for_selector(cache="Missing")),
    Accepted("an old cache", for_selector(cacheVersionBelow=3)),
    Accepted("statuses", for_selector(extractionStatus=["review", "unreadable"])),
    Accepted("not processed since", for_selector(processedBefore="2026-01-01T00:00:00+01:00")),
    Accepted("an open range", for_selector(transactionDate={"to": "2026-01-31"})),
    Accepted("a day", for_selector(transactionDate={"from": "2026-01-31", "to": "2026-01-31"})),
    Accepted("a retry of a named run", {"target": {"retryFailedOf": "one"}, "runId": "two"}),
    Accepted("a retry of the run without name", {"target": {"retryFailedOf": ""}, "runId": "two"}),
    Accepted("the longest runId", with_field(runId="A" * 63)),
    Accepted(
        "every other field",
        with_field(
            runId="2026-05-04_a.b",
            suspend=False,
            cancel=True,
            priority="High",
            maxInFlight=10_000,
            startBefore="2026-12-31T23:59:59Z",
            activeDeadlineSeconds=60,
            failureThresholdPercent=100,
            ttlSecondsAfterFinished=0,
            dryRun=True,
            rerunPolicy="OnRecreate",
            maxItems=1,
        ),
    ),
)

REFUSED = (
    Refused("no target", {}, "spec.target: Required value"),
    Refused("an empty target", {"target": {}}, ONE_TARGET),
    Refused(
        "two targets",
        {"target": {"reference": "a.png", "selector": {"cache": "Any"}}},
        ONE_TARGET,
    ),
    Refused(
        "a way up and down again",
        for_reference("2024/../../etc/passwd"),
        PATH_RULE,
    ),
    Refused("a way up", for_reference("../a.png"), PATH_RULE),
    Refused("a way to here", for_reference("./a.png"), PATH_RULE),
    Refused("a folder itself", for_reference("2024/."), PATH_RULE),
    Refused("an absolute path", for_reference("/a.png"), PATH_RULE),
    Refused("a folder with its slash", for_reference("2024/"), PATH_RULE),
    Refused("an empty segment", for_reference("2024//a.png"), PATH_RULE),
    Refused("a backslash", for_reference("2024\\a.png"), PATH_RULE),
    Refused("a NUL", for_reference("a\0.png"), PATH_RULE),
    Refused("an empty reference", for_reference(""), "should be at least 1 chars long"),
    Refused("a reference too long", for_reference("a" * 401), "may not be more than 400"),
    Refused("one bad reference of several", {"target": {"references": ["a", "/b"]}}, PATH_RULE),
    Refused("no references", {"target": {"references": []}}, "should have at least 1 items"),
    Refused(
        "501 references",
        {"target": {"references": [f"{number}.png" for number in range(501)]}},
        "must have at most 500 items",
    ),
    Refused("an empty selector", for_selector(), ONE_SELECTOR_FIELD),
    Refused("a glob from the root", for_selector(glob="/**"), GLOB_RULE),
    Refused("a glob that leads up", for_selector(glob="*/../*"), GLOB_RULE),
    Refused("a prefix from the root", for_selector(pathPrefix="/"), PREFIX_RULE),
    Refused("a prefix that leads up", for_selector(pathPrefix="a/../"), PREFIX_RULE),
    Refused("a prefix with two slashes", for_selector(pathPrefix="a//"), PREFIX_RULE),
    Refused("a cache choice of its own", for_selector(cache="Old"), 'supported values: "Any"'),
    Refused("no cache version", for_selector(cacheVersionBelow=0), "greater than or equal to 1"),
    Refused("no statuses", for_selector(extractionStatus=[]), "should have at least 1 items"),
    Refused("an unknown status", for_selector(extractionStatus=["bad"]), "supported values"),
    Refused("no moment", for_selector(processedBefore="yesterday"), "must be of type date-time"),
    Refused(
        "a range without ends",
        for_selector(transactionDate={}),
        "a transactionDate needs from, to or both",
    ),
    Refused(
        "a range that ends before it starts",
        for_selector(transactionDate={"from": "2026-02-01", "to": "2026-01-31"}),
        "transactionDate.from is not after transactionDate.to",
    ),
    Refused(
        "no day",
        for_selector(transactionDate={"from": "2026-02-30"}),
        "must be of type date",
    ),
    Refused(
        "a retry of itself",
        {"target": {"retryFailedOf": "one"}, "runId": "one"},
        "retryFailedOf names an earlier runId: set a new spec.runId for the retry itself",
    ),
    Refused(
        "a retry of itself without name",
        {"target": {"retryFailedOf": ""}},
        "retryFailedOf names an earlier runId: set a new spec.runId for the retry itself",
    ),
    Refused("an empty runId", with_field(runId=""), "spec.runId in body should match"),
    Refused("a runId too long", with_field(runId="a" * 64), "may not be more than 63"),
    Refused("a runId with a slash", with_field(runId="a/b"), "spec.runId in body should match"),
    Refused("an unknown priority", with_field(priority="Urgent"), "supported values"),
    Refused("no room in flight", with_field(maxInFlight=0), "greater than or equal to 1"),
    Refused("all in flight", with_field(maxInFlight=10_001), "less than or equal to 10000"),
    Refused("a word for a flag", with_field(suspend="yes"), "must be of type boolean"),
    Refused("no moment to start", with_field(startBefore="soon"), "must be of type date-time"),
    Refused("a short deadline", with_field(activeDeadlineSeconds=59), "or equal to 60"),
    Refused("more than all", with_field(failureThresholdPercent=101), "or equal to 100"),
    Refused("a life before", with_field(ttlSecondsAfterFinished=-1), "or equal to 0"),
    Refused("an unknown policy", with_field(rerunPolicy="Always"), "supported values"),
    Refused("no items", with_field(maxItems=0), "greater than or equal to 1"),
    Refused("an unknown field", with_field(colour="red"), 'unknown field "spec.colour"'),
)


def full_status(*, observed_generation: int = 3) -> RequestStatus:
    """Return a status with every field set, a little under the limit of 4 KiB."""
    return RequestStatus(
        observed_generation=observed_generation,
        state=State.STALLED,
        conditions=tuple(_condition(of, observed_generation) for of in ConditionType),
        run=answers.RequestRun(
            id="2026-05-04",
            request_id=A_REQUEST_ID,
            adopted=False,
            accepted_time=NOON,
            start_time=NOON,
            finish_time=NOON + timedelta(hours=1),
            active_seconds=3600,
        ),
        progress=answers.Progress(
            total=40,
            total_is_final=True,
            published=20,
            done=12,
            failed=3,
            skipped=1,
            in_flight=4,
            percent=40,
            summary="12/40",
            last_advance_time=NOON,
        ),
        rate=answers.Rate(per_minute="12.5", eta="~14m", basis=answers.EtaBasis.CURRENT_RATE),
        publish=answers.Publication(
            publications=21, last_problem=ConditionReason.QUEUE_FULL, last_problem_time=NOON
        ),
        queue=answers.QueuePlace(position=2, ahead=300),
        failures=_failures(),
        history=tuple(_past(f"run-{number}") for number in range(answers.MAX_HISTORY)),
        effective=answers.Effective(
            target="selector: pathPrefix glob",
            priority=Priority.NORMAL,
            max_in_flight=100,
            dry_run=False,
            rerun_policy=RerunPolicy.NEW_RUN_ID,
            max_items=1000,
            active_deadline_seconds=86_400,
            failure_threshold_percent=50,
            ttl_seconds_after_finished=3600,
            kept_because=answers.Kept.TRACKED_BY_ARGO_CD,
        ),
    )


def _condition(of: ConditionType, generation: int) -> Condition:
    return Condition(
        type=of,
        status=ConditionStatus.UNKNOWN,
        reason=ConditionReason.SOURCE_UNAVAILABLE,
        message=Reason.SOURCE_UNAVAILABLE.sentence,
        last_transition_time=NOON,
        observed_generation=generation,
    )


def _failures() -> answers.Failures:
    return answers.Failures(
        by_reason=(answers.ReasonCount(reason=Reason.CORRUPT, count=3),),
        samples=tuple(
            answers.FailureSample(
                reference=f"2024-0{number}/shop.png",
                reason=Reason.CORRUPT,
                message=Reason.CORRUPT.sentence,
            )
            for number in range(6)
        ),
        query=f"ledger requests show {A_REQUEST_ID}",
    )


def _past(run_id: str) -> answers.PastRequest:
    return answers.PastRequest(
        run_id=run_id,
        request_id=A_REQUEST_ID,
        result=State.PARTIALLY_FAILED,
        total=40,
        done=39,
        failed=1,
        skipped=0,
        finish_time=NOON,
    )
