"""Seconds of computing of this process and of the programs it ran."""

import resource
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def timed(act: Callable[[], T]) -> tuple[T, float]:
    """Return what a call gives, and the seconds it computed."""
    before = computed()
    result = act()
    return result, computed() - before


def computed() -> float:
    """Return the seconds so far."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
