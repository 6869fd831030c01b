"""Progress lines for a person at the terminal or for a CI log, on stderr."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_REMINDER_SECONDS = 15


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Announce a step, remind of it while it lasts, and say how long it took."""
    began = time.monotonic()
    ended = threading.Event()
    say(f"{doing} …")
    reminder = threading.Thread(target=_remind, args=(doing, began, ended), daemon=True)
    reminder.start()
    try:
        yield
    finally:
        ended.set()
        reminder.join()
    say(f"{doing}: done after {time.monotonic() - began:.1f} s")


def _remind(doing: str, began: float, ended: threading.Event) -> None:
    while not ended.wait(_REMINDER_SECONDS):
        say(f"{doing} … {time.monotonic() - began:.0f} s")
