"""Which publications a confirm, a return or a loss answers."""

from receipt_runtime.amqp.confirms import Outstanding, Publication
from receipt_runtime.amqp.messages import Message


def _sent(outstanding: Outstanding, *names: str, since: float = 0.0) -> list[Publication]:
    publications = [
        Publication(Message("exchange", "key", b"{}", "type", name), since=since) for name in names
    ]
    for publication in publications:
        outstanding.add(publication)
    return publications


def test_a_single_confirm_answers_one_publication_in_any_order() -> None:
    outstanding = Outstanding()
    first, second, third = _sent(outstanding, "a", "b", "c")

    assert outstanding.confirm(2, multiple=False) == [second]
    assert outstanding.confirm(3, multiple=False) == [third]
    assert outstanding.confirm(1, multiple=False) == [first]
    assert len(outstanding) == 0


def test_a_multiple_confirm_answers_all_up_to_its_tag_once() -> None:
    outstanding = Outstanding()
    first, second, third, fourth = _sent(outstanding, "a", "b", "c", "d")

    assert outstanding.confirm(2, multiple=False) == [second]
    assert outstanding.confirm(3, multiple=True) == [first, third]
    assert outstanding.confirm(3, multiple=True) == []
    assert outstanding.drain() == [fourth]


def test_a_confirm_of_an_unknown_tag_answers_nothing() -> None:
    outstanding = Outstanding()
    _sent(outstanding, "a")

    assert outstanding.confirm(7, multiple=False) == []


def test_a_returned_message_is_found_by_its_id() -> None:
    outstanding = Outstanding()
    first, second = _sent(outstanding, "a", "b")

    outstanding.mark_returned(second.message)

    assert (first.returned, second.returned) == (False, True)


def test_equal_messages_are_returned_one_by_one() -> None:
    outstanding = Outstanding()
    first, second = _sent(outstanding, "a", "a")

    outstanding.mark_returned(first.message)
    outstanding.mark_returned(first.message)

    assert (first.returned, second.returned) == (True, True)


def test_a_message_without_id_is_found_by_its_body_and_way() -> None:
    outstanding = Outstanding()
    mine = Publication(Message("exchange", "key", b"mine", "type", None))
    other = Publication(Message("other", "key", b"mine", "type", None))
    outstanding.add(other)
    outstanding.add(mine)

    outstanding.mark_returned(mine.message)

    assert (other.returned, mine.returned) == (False, True)


def test_only_old_publications_are_overdue() -> None:
    outstanding = Outstanding()
    (old,) = _sent(outstanding, "old", since=1.0)
    (new,) = _sent(outstanding, "new", since=2.0)

    assert outstanding.overdue(before=1.5) == [old]
    assert outstanding.drain() == [new]
