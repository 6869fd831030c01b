"""The status: its names on the wire, its limits, its times."""

from datetime import datetime

import pytest
from pydantic import ValidationError

from receipt_contract import status
from receipt_contract.errors import Reason
from receipt_contract.status import RequestRun, RequestStatus, State
from tests.support.requests import A_REQUEST_ID, full_status


def test_a_full_status_goes_out_and_comes_back() -> None:
    document = full_status().document()

    assert RequestStatus.model_validate(document) == full_status()
    assert set(document) == {
        "observedGeneration",
        "state",
        "conditions",
        "run",
        "progress",
        "rate",
        "publish",
        "queue",
        "failures",
        "history",
        "effective",
    }


def test_an_empty_status_says_nothing_but_its_generation() -> None:
    assert RequestStatus(observed_generation=-1).document() == {"observedGeneration": -1}


@pytest.mark.parametrize("reason", Reason, ids=str)
def test_g7_the_sentence_of_every_reason_fits_a_sample(reason: Reason) -> None:
    assert len(reason.sentence) <= status.MAX_SAMPLE_MESSAGE


def test_g7_one_sample_more_than_allowed_is_refused() -> None:
    failures = full_status().failures
    assert failures is not None
    too_many = failures.samples[:1] * (status.MAX_SAMPLES + 1)

    with pytest.raises(ValidationError):
        status.Failures(by_reason=failures.by_reason, samples=too_many, query="")


def test_times_are_whole_seconds_in_utc() -> None:
    run = RequestRun(
        id="",
        request_id=A_REQUEST_ID,
        adopted=False,
        start_time=datetime.fromisoformat("2026-05-04T14:00:00.987654+02:00"),
    )

    assert run.document()["startTime"] == "2026-05-04T12:00:00Z"


def test_a_time_without_its_zone_is_refused() -> None:
    with pytest.raises(ValidationError):
        RequestRun(
            id="",
            request_id=A_REQUEST_ID,
            adopted=False,
            start_time=datetime.fromisoformat("2026-05-04T14:00:00"),
        )


def test_these_states_are_final() -> None:
    assert {state for state in State if state.is_final} == {
        State.SUCCEEDED,
        State.PARTIALLY_FAILED,
        State.FAILED,
        State.CANCELLED,
        State.EXPIRED,
        State.INVALID,
    }
