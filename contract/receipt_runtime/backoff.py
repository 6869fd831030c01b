"""How long to wait before the next try. Pure but for the jitter."""

import random

LONGEST_SECONDS = 15.0
FIRST_SECONDS = 0.2

_DOUBLINGS = 10  # beyond these every pause is the longest one anyway


def pause(
    failures: int, *, first: float = FIRST_SECONDS, longest: float = LONGEST_SECONDS
) -> float:
    """Seconds to wait after `failures` failed tries: doubling, capped, spread over its upper half.

    The spread keeps many processes from coming back to a broker in the same moment.
    """
    whole = min(longest, first * 2.0 ** min(failures, _DOUBLINGS))
    return whole * random.uniform(0.5, 1.0)  # noqa: S311 - spreading load, no secret
