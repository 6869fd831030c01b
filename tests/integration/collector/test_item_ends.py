"""How result events and failures end the items of requests."""

import pytest

from receipt_collector import failures
from receipt_contract import results, work
from receipt_contract.errors import Reason
from receipt_contract.topology import REASON_HEADER
from receipt_contract.work import ReprocessWork
from tests.integration.collector.books import Books
from tests.support.results import make_pass, make_run, reference, request_id, sha

STATES = ("planned", "publishing", "published", "failed", "done", "skipped")


@pytest.mark.parametrize("state", STATES)
def test_a_result_ends_an_item_of_an_open_request(books: Books, state: str) -> None:
    books.ask()
    books.want(state=state)

    books.apply(make_run(request=1))

    item = books.item()
    assert item["state"] == ("skipped" if state == "skipped" else "done")
    ended_here = state not in {"done", "skipped"}
    assert (item["ended_by"] == "collector") is ended_here
    assert (item["ended_at"] is not None) is ended_here
    assert not item["late"]


@pytest.mark.parametrize("ends", ["result", "failure"])
def test_g4_an_answer_that_overtakes_the_brokers_confirm_proves_that_its_work_was_sent(
    books: Books, ends: str
) -> None:
    books.ask()
    books.want(state="publishing")

    if ends == "result":
        books.apply(make_run(request=1))
        books.apply(make_run(request=1))
    else:
        books.fail(_dead_work())

    assert books.item()["publications"] == 1


@pytest.mark.parametrize("state", STATES)
def test_g4_a_result_after_the_finish_leaves_only_a_mark(books: Books, state: str) -> None:
    books.ask()
    books.want(state=state)
    books.finish()

    books.apply(make_run(request=1))

    item = books.item()
    assert item["state"] == state
    assert item["ended_by"] is None
    assert item["late"] is (state != "done")
    assert books.count("budget.receipt_evidence") == 1


@pytest.mark.parametrize("state", STATES)
def test_a_failure_ends_an_item_that_has_not_ended(books: Books, state: str) -> None:
    books.ask()
    books.want(state=state)

    books.fail(_dead_work())

    item = books.item()
    if state in {"planned", "publishing", "published"}:
        assert (item["state"], item["reason"]) == ("failed", "corrupt")
        assert item["ended_by"] == "collector"
    else:
        assert (item["state"], item["ended_by"]) == (state, None)


@pytest.mark.parametrize("state", STATES)
def test_g4_a_failure_after_the_finish_is_only_a_row(books: Books, state: str) -> None:
    books.ask()
    books.want(state=state)
    books.finish()

    books.fail(_dead_work())

    assert (books.item()["state"], books.item()["late"]) == (state, False)
    assert books.count("budget.receipt_failures") == 1


def test_a_result_after_a_failure_makes_the_item_done(books: Books) -> None:
    books.ask()
    books.want()
    books.fail(_dead_work())

    books.apply(make_run(request=1))

    assert (books.item()["state"], books.item()["reason"]) == ("done", None)


def test_two_references_with_the_same_bytes_both_end(books: Books) -> None:
    books.ask()
    for at in ("a.png", "b.png"):
        books.want(at=at)

    first = make_run(request=1, at="a.png")
    second = make_run(request=1, at="b.png")
    books.apply(first)
    books.apply(second)

    assert first.message_id == second.message_id
    assert [books.item(at=at)["state"] for at in ("a.png", "b.png")] == ["done", "done"]
    assert books.count("budget.receipt_ocr_runs") == 1


def test_a_refused_run_still_ends_the_item(books: Books) -> None:
    books.ask()
    for at in ("a.png", "b.png"):
        books.want(at=at)
    books.apply(make_run(run=1, request=1, at="a.png"))

    books.apply(make_run(run=2, request=1, at="b.png"))

    assert books.item(at="b.png")["state"] == "done"


def test_a_result_for_a_request_outside_the_register_is_stored(books: Books) -> None:
    books.apply(make_run(request=1))

    assert books.count("budget.receipt_reprocess_requests") == 1


def test_a_dead_run_event_ends_the_item(books: Books) -> None:
    books.ask()
    books.want()
    body = results.encode(make_run(request=1, attempt=3))

    books.fail(failures.read_result(body, {REASON_HEADER: "internal_error"}))

    assert (books.item()["state"], books.item()["reason"]) == ("failed", "internal_error")


def test_a_dead_pass_is_only_a_row(books: Books) -> None:
    books.ask()
    books.want()
    body = results.encode(make_pass(attempt=3))

    books.fail(failures.read_result(body, {REASON_HEADER: "run_unknown"}))

    assert books.item()["state"] == "published"
    assert books.row("SELECT * FROM budget.receipt_failures")["pass_id"] == 1


def _dead_work() -> failures.Failure:
    message = ReprocessWork(
        source_sha256=sha(), source_reference=reference(), request_id=request_id(), version=2
    )
    return failures.read_work(work.encode(message), {REASON_HEADER: Reason.CORRUPT.value})
