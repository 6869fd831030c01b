"""How a process of ours ends: the first signal asks, the second one does not wait."""

import os
import signal
import threading
from types import FrameType

EXIT_BY_SIGNAL = 128
EXIT_STUCK = 5


def on_signals() -> threading.Event:
    """Return an event that SIGTERM or SIGINT sets; a second signal ends the process at once.

    Call it from the main thread.
    """
    asked = threading.Event()

    def answer(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(EXIT_BY_SIGNAL + number)
        asked.set()

    signal.signal(signal.SIGTERM, answer)
    signal.signal(signal.SIGINT, answer)
    return asked


def within(seconds: float) -> None:
    """Give this process so long to end; whatever keeps it then, it ends at once."""
    last = threading.Timer(seconds, os._exit, [EXIT_STUCK])
    last.daemon = True
    last.start()
