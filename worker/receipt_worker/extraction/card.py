"""Card numbers: everything but the last four digits is struck out of a text.

Runs before anything is stored, logged or judged, so that no later step can leak what it never saw.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from receipt_worker.extraction import card_numbers, marks
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word

_VEIL = "\0"  # stands for what is no part of a number while numbers are looked for
_OTHERS = re.compile(
    r"""
    (?<![\dOoIlSB|])(?<!\d[.,/\-])(?:                        # nor with letters for digits
      (?:[0-3]?\d[./\-][0-3]?\d[./\-](?:(?:19|20)\d\d|\d\d)   # a date
        |(?:19|20)\d\d[./\-][01]?\d[./\-][0-3]?\d
        |[0-3]?\d/(?:20)?\d\d                                  # when a card expires
        |[0-2]?\d:[0-5]\d(?::[0-5]\d)?)(?!\d)                  # a time
      |(?:0[.,]\d+                                             # a part of one
        |\d{1,3}(?:[.,']\d{3}){1,3}(?:[.,]\d\d)?               # an amount
        |\d{1,9}[.,]\d\d)(?![\dOoIlSB|]|[.,/:'\-]\d)
    )
    """,
    re.VERBOSE,
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])(?P<country>[A-Z]{2})\d\d"
    r"(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])"
)
_IBAN_LENGTHS = {
    "AT": 20,
    "BE": 16,
    "CH": 21,
    "CZ": 24,
    "DE": 22,
    "DK": 18,
    "EE": 20,
    "ES": 24,
    "FI": 18,
    "FR": 27,
    "GB": 22,
    "GR": 27,
    "HR": 21,
    "HU": 28,
    "IE": 22,
    "IT": 27,
    "LI": 21,
    "LT": 20,
    "LU": 20,
    "LV": 21,
    "MC": 27,
    "NL": 18,
    "PL": 28,
    "PT": 25,
    "RO": 24,
    "SE": 24,
    "SI": 19,
    "SK": 24,
    "SM": 27,
    "BG": 22,
    "CY": 28,
    "MT": 31,
}


def redacted(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[Line, ...]:
    """Return the lines with card numbers struck out in every word; places stay the same.

    A number that goes on in the next line is struck out in both.
    """
    if not lines:  # of which no text is one text
        return ()
    whole = "\n".join(line.text for line in lines)
    texts = _unveiled(card_numbers.strike_checked(_veiled(whole)), whole).split("\n")
    return tuple(
        _with_text(line, redact(text, about_card=names_card(line.text, vocabulary)))
        for line, text in zip(lines, texts, strict=True)
    )


def redact(text: str, *, about_card: bool) -> str:
    """Strike out card numbers; the length stays the same. `about_card`: the line names a card."""
    seen = _others_hidden(text) if about_card else _veiled(text)
    seen = card_numbers.strike_grouped(card_numbers.strike_checked(seen))
    if about_card:  # before the marks around a number are taken for a part of it
        seen = card_numbers.strike_named(seen, checked=True)
    seen = marks.strike(seen, about_card=about_card)
    if about_card:
        seen = card_numbers.strike_named(seen, checked=False)
    return _unveiled(seen, text)


def names_card(text: str, vocabulary: Vocabulary) -> bool:
    """Say whether a line names a card or a network of cards."""
    return has_word(text, _names(vocabulary))


@cache
def _names(vocabulary: Vocabulary) -> frozenset[str]:
    return vocabulary.card_words | {phrase for phrase, _ in vocabulary.world.networks}


def _veiled(text: str) -> str:
    """Hide dates, times, amounts and numbers of accounts, which are no cards."""
    return _IBAN.sub(_iban_hidden, _others_hidden(text))


def _others_hidden(text: str) -> str:
    return _OTHERS.sub(lambda match: _VEIL * len(match[0]), text)


def _iban_hidden(match: re.Match[str]) -> str:
    """Hide as much as the country's numbers have; a card's number may stand behind."""
    left = _IBAN_LENGTHS.get(match["country"], 0)
    for end, mark in enumerate(match[0], start=1):
        left -= mark != " "
        if left == 0 and not match[0][end : end + 1].isalnum():
            return _VEIL * end + match[0][end:]
    return match[0]


def _unveiled(seen: str, text: str) -> str:
    return "".join(
        before if after == _VEIL else after for after, before in zip(seen, text, strict=True)
    )


def _with_text(line: Line, text: str) -> Line:
    """Return the line with another text of the same length, word by word."""
    if text == line.text:
        return line
    words, start = [], 0
    for word in line.words:
        end = start + len(word.text)
        words.append(word._replace(text=text[start:end]))
        start = end + 1
    return replace(line, words=tuple(words))
