"""Card numbers that are printed whole: where they stand in a text, however they are grouped.

Where no card is named, a check digit and the usual groups must speak for one, as receipts hold
many long numbers. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, pairwise

from receipt_worker.extraction.marks import DASH, KEPT, MARK, hidden, struck

_FREE = r"(?<!\d)(?<!\d[.,])"  # not inside a number, nor behind its decimal separator
# Grouped as printed on cards: 4-4-4-4(-3) and 4-6-5.
_GROUPED = re.compile(rf"{_FREE}\d{{4}}([ \-.])\d{{4}}\1\d{{4}}\1\d{{4}}(?:\1\d{{3}})?(?!\d)")
_AMEX = re.compile(rf"{_FREE}3\d{{3}}([ \-.])\d{{6}}\1\d{{5}}(?!\d)")

# What a check digit must prove: groups of digits, over the end of a line as well.
_GROUP = re.compile(rf"{_FREE}(?<!\d[:/])\d++(?![.,:/]\d)")
_BETWEEN = re.compile(rf"[ \u00a0]?[{DASH}]?[ \u00a0]?\n?[{DASH}]?[ \u00a0]?")
_ISSUED = re.compile(
    r"3[0689]\d{12}|[3-6]\d{14}|[3-6]\d{15}|[3-6]\d{16,18}"
    r"|2(?:2(?:2[1-9]|[3-9]\d)|[3-6]\d\d|7(?:[01]\d|20))\d{12}"
)
_LONGEST = 19
_FOURS, _AMEX_CUTS = frozenset({4, 8, 12, 16}), frozenset({4, 10})
_CUTS = {14: (_AMEX_CUTS,), 15: (_AMEX_CUTS,), 16: (_FOURS,), 19: (_FOURS, frozenset({6}))}
_LUHN_BASE = 9
_BEHIND_MASK = re.compile(rf"{MARK}{{2}}[ \-]?\Z")

# On a line about a card, any longer number is taken for one, with letters read for digits.
_LEAST_NAMED = 12
_LETTERS = "OoIlSB|"
_AS_DIGITS = str.maketrans(_LETTERS, "0011581")
_NAMED_GROUP = re.compile(
    rf"(?<!{MARK}{{4}})(?<!{MARK}{{4}}[ .\-])(?<!\d)(?:(?<![^\W_])[{_LETTERS}]{{1,3}})?"
    rf"\d(?:[{_LETTERS}]*+\d)*+(?:[{_LETTERS}]{{1,3}}(?![^\W_]))?"
)
_NAMED_BETWEEN = re.compile(rf"[ \u00a0]{{0,2}}[.,/_\u00b7{DASH}]?[ \u00a0]{{0,2}}")


def strike_grouped(text: str) -> str:
    """Strike out numbers that are grouped as on cards."""
    for pattern in (_GROUPED, _AMEX):
        text = pattern.sub(lambda match: struck(match[0]), text)
    return text


def strike_checked(text: str) -> str:
    """Strike out numbers with a right check digit; one may go on in the next lines."""
    groups = [range(*match.span()) for match in _GROUP.finditer(text)]
    places: list[int] = []
    first = 0
    while first < len(groups):
        last = _last_of_number(text, groups, first)
        if last is not None:
            digits = [at for group in groups[first : last + 1] for at in group]
            places += digits[:-KEPT]
        first = first + 1 if last is None else last + 1
    return hidden(text, places)


def strike_named(text: str, *, checked: bool) -> str:
    """Strike out every long number, on a line about a card; or those with a right check digit."""
    for chain in _chains(text):
        digits = [at for group in chain for at in group]
        if len(digits) >= _LEAST_NAMED:
            end = _end_of_number(text, chain)
            if end is None and checked:
                continue
            end = len(digits) if end is None else end
            text = hidden(text, [*digits[: end - KEPT], *digits[end:]])
    return text


def _last_of_number(text: str, groups: Sequence[range], first: int) -> int | None:
    """Return the last group of the longest card number that starts with this group."""
    digits = text[groups[first].start : groups[first].stop]
    cuts, breaks = [], set()
    found = 0 if _is_card(digits, (), frozenset()) else None
    masked = _BEHIND_MASK.search(text[max(0, groups[first].start - 3) : groups[first].start])
    for count, (group, following) in enumerate(pairwise(groups[first : first + _LONGEST]), start=1):
        between = text[group.stop : following.start]
        if len(digits) > _LONGEST or not _BETWEEN.fullmatch(between):
            break
        cuts.append(len(digits))
        if "\n" in between:
            breaks.add(len(digits))
            if masked:  # the last digits of another number
                break
        digits += text[following.start : following.stop]
        if _is_card(digits, cuts, breaks):
            found = count
    return None if found is None else first + found


def _is_card(digits: str, cuts: Sequence[int], breaks: AbstractSet[int]) -> bool:
    """Say whether these digits are a card's, printed as one; a line may end anywhere in it."""
    if not _ISSUED.fullmatch(digits) or not _luhn(digits):
        return False
    singles = len(cuts) == len(digits) - 1 and len(breaks) <= 1
    odd = [set(cuts) - usual for usual in _CUTS.get(len(digits), ())]
    return not cuts or singles or any(not cut or (len(cut) == 1 and cut <= breaks) for cut in odd)


def _end_of_number(text: str, chain: Sequence[range]) -> int | None:
    """Return how many digits there are up to the end of a number with a right check digit."""
    digits = "".join(text[at] for group in chain for at in group).translate(_AS_DIGITS)
    ends = [0, *accumulate(map(len, chain))]
    return next(
        (
            end
            for place, start in enumerate(ends)
            for end in reversed(ends[place + 1 : place + 1 + _LONGEST])
            if _is_card(digits[start : min(end, start + _LONGEST + 1)], (), frozenset())
        ),
        None,
    )


def _chains(text: str) -> Iterator[list[range]]:
    """Find groups of digits with nothing but separators between them."""
    chain: list[range] = []
    for match in _NAMED_GROUP.finditer(text):
        if chain and not _NAMED_BETWEEN.fullmatch(text, chain[-1].stop, match.start()):
            yield chain
            chain = []
        chain.append(range(*match.span()))
    if chain:
        yield chain


def _luhn(digits: str) -> bool:
    total = 0
    for place, mark in enumerate(reversed(digits)):
        value = int(mark) * (1 + place % 2)
        total += value - _LUHN_BASE if value > _LUHN_BASE else value
    return total % 10 == 0
