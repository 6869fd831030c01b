"""What an object says while it waits: its place, what is ahead, and why nobody looks at it."""

from typing import Any

import pytest

from receipt_contract.requests import Kind
from tests.support import ledger
from tests.support.answerer import answering
from tests.support.pipeline import Pipeline, condition_of, count, holds
from tests.support.promises import check_object
from tests.support.receipts import write_small_receipts

pytestmark = pytest.mark.cluster

REPROCESS = Kind.RECEIPT_REPROCESS
WINDOW = 2
# A fault that only one object meets.
CURSE = """
CREATE FUNCTION work.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'refused'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON work.requests
  FOR EACH ROW WHEN (NEW.name = 'cursed') EXECUTE FUNCTION work.refuse();
"""


@pytest.fixture(scope="module")
def crowded(module_pipeline: Pipeline) -> Pipeline:
    """Give a pipeline whose window holds two receipts of all requests together."""
    module_pipeline.start_collector()
    module_pipeline.start_operator(RECEIPTS_GLOBAL_IN_FLIGHT=str(WINDOW))
    return module_pipeline


def _wide(pipeline: Pipeline, name: str) -> dict[str, str]:
    """Return a row of the wide table by column; cells with spaces only come behind those read."""
    heads, row = pipeline.kubectl("get", "rrp", name, "--output=wide").splitlines()
    return dict(zip(heads.split(), row.split(), strict=False))


def test_a_request_says_its_place_and_what_is_ahead(crowded: Pipeline) -> None:
    busy = [f"busy/{number}.png" for number in range(6)]
    few = [f"few/{number}.png" for number in range(3)]
    write_small_receipts(crowded.receipts, *busy, *few)
    crowded.apply(REPROCESS, "busy", runId="one", target={"references": [*busy, "busy/gone.png"]})
    crowded.wait(REPROCESS, "busy", lambda status: count(status, "published") == WINDOW)
    crowded.apply(REPROCESS, "few", target={"references": few})
    crowded.apply(REPROCESS, "still", suspend=True, target={"references": few})

    few_waits = crowded.wait(REPROCESS, "few", lambda status: status.get("queue"))
    crowded.wait(REPROCESS, "still", lambda status: holds(status, "Suspended"))
    row = _wide(crowded, "still")
    crowded.apply(REPROCESS, "busy", runId="two", target={"retryFailedOf": "one"})
    retry_waits = crowded.wait(
        REPROCESS,
        "busy",
        lambda status: status["run"]["id"] == "two" and status.get("queue"),
    )
    crowded.patch(REPROCESS, "still", cancel=True)
    with answering(crowded.broker_url):
        end = crowded.wait_finished(REPROCESS, "few")
        crowded.wait_finished(REPROCESS, "busy", run_id="two")

    assert few_waits["queue"]["position"] == 1
    assert 6 <= few_waits["queue"]["ahead"] <= 7
    assert "number 1 in the queue" in condition_of(few_waits, "Reconciling")["message"]
    assert (row["STATE"], row["REASON"]) == ("Suspended", "Suspended")
    assert retry_waits["state"] == "Queued"
    assert retry_waits["queue"]["position"] == 1
    assert retry_waits["queue"]["ahead"] >= 6
    assert "runId one" in condition_of(retry_waits, "Accepted")["message"]
    assert "queue" not in end
    check_object(crowded, REPROCESS, "few")


def test_the_first_estimate_comes_from_the_run_before(crowded: Pipeline) -> None:
    write_small_receipts(crowded.receipts, "again.png", first=30)
    with answering(crowded.broker_url):
        crowded.apply(REPROCESS, "again", runId="one", target={"reference": "again.png"})
        crowded.wait_finished(REPROCESS, "again", run_id="one")

    crowded.apply(REPROCESS, "again", runId="two", target={"reference": "again.png"})
    status = crowded.wait(
        REPROCESS,
        "again",
        lambda status: status["run"]["id"] == "two" and status.get("rate", {}).get("basis"),
    )
    with answering(crowded.broker_url):
        crowded.wait_finished(REPROCESS, "again", run_id="two")

    assert status["rate"]["basis"] == "EarlierRuns"
    assert status["rate"]["eta"].startswith("~")


def test_the_failures_of_a_request_come_with_the_command_that_lists_all(crowded: Pipeline) -> None:
    gone = [f"gone/{number:02}.png" for number in range(30)]
    crowded.apply(REPROCESS, "gone", target={"references": gone})

    failures: dict[str, Any] = crowded.wait_finished(REPROCESS, "gone")["failures"]

    assert failures["byReason"] == [{"reason": "source_missing", "count": 30}]
    assert 0 < len(failures["samples"]) <= 20
    program, *command = failures["query"].split()
    listed = ledger.run(*command, env={"DATABASE_URL": crowded.database_url})
    assert program == "ledger"
    assert [one["reference"] for one in listed.lines[1:]] == gone
    check_object(crowded, REPROCESS, "gone")


def test_an_object_on_which_the_operator_fails_says_so_and_goes_on(crowded: Pipeline) -> None:
    write_small_receipts(crowded.receipts, "cursed.png", first=31)
    crowded.execute(CURSE)
    crowded.apply(REPROCESS, "cursed", target={"reference": "cursed.png"})
    cursed = crowded.wait(REPROCESS, "cursed", lambda status: status.get("state") == "Stalled")
    crowded.execute("DROP FUNCTION work.refuse CASCADE")
    with answering(crowded.broker_url):
        end = crowded.wait_finished(REPROCESS, "cursed")

    assert condition_of(cursed, "Stalled")["reason"] == "InternalError"
    assert condition_of(cursed, "Accepted")["status"] == "Unknown"
    assert "run" not in cursed
    assert end["state"] == "Succeeded"
    told = [one["reason"] for one in crowded.events(REPROCESS, "cursed")]
    assert told.count("InternalError") == 1
    check_object(crowded, REPROCESS, "cursed")
