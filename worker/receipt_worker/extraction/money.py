"""Amounts in printed text, exact: the text goes in, Decimals come out.

An amount has two digits behind its separator. Both separators are known, thousands may be grouped,
the sign may stand on either side. Never a float.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

from receipt_worker.extraction.vocabulary import REMEMBERED_LINES

# Letters an engine reads for digits; only inside words that are digits otherwise.
_MISREAD = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "|": "1", "S": "5", "B": "8"})
_NEARLY_NUMBER = re.compile(r"(?<!\w)[\dOolI|SB]+(?:[.,:/\-][\dOolI|SB]+)+(?!\w)")
# RMO.02, where the sign may be misread as well
_ZERO_BEHIND_SIGN = re.compile(r"(?:(?<=\bR[MHNKY])|(?<=[\u20ac\u00a3$]))[Oo](?=[.,]\d\d(?!\w))")
_MOST_DIGITS = 9  # before the separator; more is a number of something else

_AMOUNT = re.compile(
    r"""
    (?<![\d.,:/])                                   # not inside a number, a date or a time
    (?P<lead>[-\u2212\u2013])?                     # attached: a lone one is a misread colon
    (?P<whole>\d{1,3}(?:(?P<group>[.,'\u2019\u00b4`\u00a0\u202f]|\ (?=\d{3}(?:\ \d{3})*,\d\d))
      \d{3}(?:(?P=group)\d{3})*)                    # a space groups only before a comma
      |\d{1,9}|(?<![^\W\d_])(?=[.,]\d\d(?!\d)))  # 1.234 | 1234 | nothing: .50
    \s?(?P<separator>[.,])\s?
    (?P<cents>\d{2})
    (?!\d|[.,:/]\d|\s?%)                            # not a date, a time, a weight or a rate
    (?P<trail>-(?!\d)|\s-(?!\s?\d))?
    """,
    re.VERBOSE,
)
_WHOLE = re.compile(
    r"""
    (?<![\w.,:/\-])(?P<lead>[-\u2212]\s?)?
    (?P<sign>[\u00a5\uffe5\u20a9\u20ab\\]|(?<![^\W\d_])(?:jpy|krw|vnd|clp|huf|idr|rp\.?|\$))?\s?
    (?P<whole>\d{1,3}(?:(?P<group>[,.\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*)|\d{1,8})
    (?![\d.,:/\-]*\d|\s?%)
    (?P<unit>\s?(?:\u5186|\uc6d0|won|ft|jpy|krw|vnd|clp|huf)(?![^\W\d_]))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND_SIGN = re.compile(
    r"\.?\s?(?P<whole>\d{1,3}(?:(?P<group>[,.\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*)|\d{1,8})"
    r"(?![\d.,:/\-]*\d|\s?%)"
)
_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?)\s?%")


@dataclass(frozen=True)
class Amount:
    """One amount; `start` and `end` are places in the text it was read from."""

    value: Decimal
    raw: str
    start: int
    end: int


@lru_cache(maxsize=REMEMBERED_LINES)
def amounts(text: str) -> tuple[Amount, ...]:
    """Find every amount, from left to right."""
    found = (_amount(match) for match in _AMOUNT.finditer(repaired(text)))
    return tuple(amount for amount in found if amount is not None)


def rates(text: str) -> tuple[Decimal, ...]:
    """Find every percentage."""
    return tuple(Decimal(match[1].replace(",", ".")) for match in _RATE.finditer(text))


@lru_cache(maxsize=REMEMBERED_LINES)
def repaired(text: str) -> str:
    """Put digits back where letters were read inside numbers; the length stays the same."""

    def repair(match: re.Match[str]) -> str:
        word = match[0]
        digits = sum(mark.isdigit() for mark in word)
        return word.translate(_MISREAD) if digits * 2 >= len(word) - 1 else word

    return _ZERO_BEHIND_SIGN.sub("0", _NEARLY_NUMBER.sub(repair, text))


def whole_amounts(text: str) -> tuple[Amount, ...]:
    """Find amounts of a currency without decimals: signed, grouped, or last on the line."""
    found = []
    for match in _WHOLE.finditer(text):
        last = not any(mark.isalnum() for mark in text[match.end() :])
        if not (match["sign"] or match["unit"] or match["group"] or last):
            continue
        value = Decimal(re.sub(r"\D", "", match["whole"]))
        sign = -1 if match["lead"] else 1
        found.append(Amount(sign * value, match[0].strip(), match.start(), match.end()))
    return tuple(found)


def whole_amounts_after_signs(text: str, signs: Mapping[str, str]) -> tuple[Amount, ...]:
    """Find whole numbers right behind a currency sign: some receipts print no decimals at all."""
    found = []
    for _, sign in currencies(text, signs):
        match = _BEHIND_SIGN.match(text, sign.stop)
        if match is not None:
            value = Decimal(re.sub(r"\D", "", match["whole"]) + ".00")
            found.append(Amount(value, match[0].strip(), match.start("whole"), match.end()))
    return tuple(sorted(found, key=lambda amount: amount.start))


def currencies(text: str, signs: Mapping[str, str]) -> tuple[tuple[str, range], ...]:
    """ISO codes of the currency signs in the text with their places, one for each printed sign."""
    folded = text.casefold() if len(text.casefold()) == len(text) else text.lower()
    return tuple(
        (code, range(match.start(), match.end()))
        for sign, code in signs.items()
        if sign in folded
        for match in _sign_pattern(sign).finditer(folded)
    )


@cache
def _sign_pattern(sign: str) -> re.Pattern[str]:
    edge = r"(?<![^\W\d_])" if sign[0].isalpha() else ""
    end = r"(?![^\W\d_])" if sign[-1].isalpha() else ""
    return re.compile(edge + re.escape(sign) + end)


def _amount(match: re.Match[str]) -> Amount | None:
    if match["group"] and match["group"] == match["separator"]:
        return None  # 1.234.56 has no reading that is certain
    whole = re.sub(r"\D", "", match["whole"]) or "0"
    if len(whole) > _MOST_DIGITS:
        return None
    value = Decimal(f"{whole}.{match['cents']}")
    if match["lead"] or match["trail"]:
        value = -value
    return Amount(value, match[0].strip(), match.start(), match.end())
