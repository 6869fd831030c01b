"""Which publications of one channel are still unanswered. Pure: no socket, no clock.

Confirms arrive out of order and for many at once, so outstanding ones are a map and never a count.
"""

from concurrent.futures import Future
from dataclasses import dataclass, field

from receipt_runtime.amqp.messages import Message, Outcome


@dataclass(slots=True, eq=False)
class Publication:
    """A message on its way, and who waits for its outcome."""

    message: Message
    since: float = 0.0  # monotonic seconds: submitted, and from the sending on: sent
    future: Future[Outcome] = field(default_factory=Future)
    returned: bool = False


class Outstanding:
    """The publications of one channel in confirm mode, by delivery tag."""

    def __init__(self) -> None:
        """Begin with an empty channel, whose first message has tag 1."""
        self._by_tag: dict[int, Publication] = {}
        self._last_tag = 0

    def __len__(self) -> int:
        """Count the unanswered ones."""
        return len(self._by_tag)

    def add(self, publication: Publication) -> None:
        """Record the message that was sent next on the channel."""
        self._last_tag += 1
        self._by_tag[self._last_tag] = publication

    def mark_returned(self, message: Message) -> None:
        """Record that no queue took `message`; its confirm follows and is an ack all the same.

        Two publications that are equal in all parts cannot be told apart and need not be.
        """
        for publication in self._by_tag.values():
            if not publication.returned and _same(publication.message, message):
                publication.returned = True
                return

    def confirm(self, tag: int, *, multiple: bool) -> list[Publication]:
        """Take out what a confirm answers: this tag, or all up to it."""
        tags = [known for known in self._by_tag if known <= tag] if multiple else [tag]
        found = (self._by_tag.pop(known, None) for known in tags)
        return [publication for publication in found if publication is not None]

    def overdue(self, before: float) -> list[Publication]:
        """Take out what was sent before a moment and never answered."""
        tags = [tag for tag, known in self._by_tag.items() if known.since < before]
        return [self._by_tag.pop(tag) for tag in tags]

    def drain(self) -> list[Publication]:
        """Take out everything: the channel is gone."""
        rest = list(self._by_tag.values())
        self._by_tag.clear()
        return rest


def _same(mine: Message, returned: Message) -> bool:
    return (mine.message_id, mine.exchange, mine.routing_key, mine.body) == (
        returned.message_id,
        returned.exchange,
        returned.routing_key,
        returned.body,
    )
