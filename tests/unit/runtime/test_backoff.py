"""How pauses grow."""

from hypothesis import given
from hypothesis import strategies as st

from receipt_runtime import backoff


@given(failures=st.integers(min_value=0, max_value=10**9))
def test_a_pause_is_never_longer_than_the_longest(failures: int) -> None:
    assert 0 < backoff.pause(failures) <= backoff.LONGEST_SECONDS


@given(failures=st.integers(min_value=0, max_value=5))
def test_pauses_grow_and_are_spread_over_their_upper_half(failures: int) -> None:
    whole = backoff.FIRST_SECONDS * 2**failures

    assert whole / 2 <= backoff.pause(failures) <= whole
