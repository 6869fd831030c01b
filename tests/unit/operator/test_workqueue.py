"""The queue of keys: each once, failures alone and later."""

import asyncio

from receipt_operator.register.rows import ObjectKey
from receipt_operator.workqueue import WorkQueue
from tests.support.facts import KEY

A, B, C = (KEY._replace(name=name) for name in "abc")


def _queue(*keys: ObjectKey) -> WorkQueue:
    queue = WorkQueue(longest_delay=0.05)
    queue.add(keys)
    return queue


async def test_a_key_waits_once_however_often_it_is_added() -> None:
    queue = _queue(A, B, A)
    queue.add([B])

    assert await queue.take(10) == [A, B]
    assert len(queue) == 0


async def test_the_oldest_are_taken_first_and_the_rest_stay() -> None:
    queue = _queue(A, B, C)

    assert await queue.take(2) == [A, B]
    assert await queue.take(2) == [C]


async def test_a_reader_waits_for_the_next_key() -> None:
    queue = _queue()
    reader = asyncio.create_task(queue.take(10))
    await asyncio.sleep(0)
    assert not reader.done()

    queue.add([A])

    assert await reader == [A]


async def test_a_key_that_failed_comes_back_by_itself() -> None:
    queue = _queue(A)
    [key] = await queue.take(10)
    queue.failed(key)

    assert len(queue) == 0
    assert await queue.take(10) == [A]


async def test_g6_a_key_that_failed_is_taken_alone() -> None:
    queue = _queue(A)
    await queue.take(10)
    queue.failed(A)
    queue.add([B, A, C])

    assert await queue.take(10) == [B, C]
    assert await queue.take(10) == [A]


async def test_a_key_is_stuck_after_five_failures_and_not_after_a_success() -> None:
    queue = _queue()
    stuck = []
    for _ in range(5):
        queue.add([A])
        await queue.take(10)
        queue.failed(A)
        stuck.append(queue.stuck(A))
        await queue.take(10)  # the pause is over
    queue.succeeded(A)

    assert stuck == [False, False, False, False, True]
    assert not queue.stuck(A)


async def test_failing_again_before_the_pause_is_over_counts_once() -> None:
    queue = _queue()
    for _ in range(9):
        queue.failed(A)

    assert not queue.stuck(A)
    assert await queue.take(10) == [A]


async def test_an_outage_is_no_failure_of_the_key() -> None:
    queue = _queue()
    for _ in range(9):
        queue.postponed(A)
    queue.add([B])

    assert await queue.take(10) == [B]
    assert await queue.take(10) == [A]
    assert not queue.stuck(A)


async def test_a_stuck_key_that_was_taken_in_is_stuck_no_more_but_still_slow() -> None:
    queue = _queue()
    for _ in range(5):
        queue.failed(A)
        await queue.take(10)  # the pause is over

    queue.taken_in(A)
    taken_in = queue.stuck(A)
    queue.failed(A)

    assert not taken_in
    assert queue.stuck(A)
