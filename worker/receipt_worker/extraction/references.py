"""The receipt's own number, and what kind of purchase it was. Pure."""

import re
from collections.abc import Sequence
from functools import cache

from receipt_worker.extraction import dates
from receipt_worker.extraction.contacts import plain_same_length
from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word, plain

LEAST_DIGITS = 3

_NUMBER_WORD = r"(?:no|nr|num|number|id|nummer|numero|n[o\u00ba\u00b0]?)"
_VALUE = re.compile(r"[\s.:#\-\u00ba\u00b0]*(?P<number>[A-Z0-9][A-Z0-9\-/]{2,23})", re.IGNORECASE)


def receipt_number(lines: Sequence[Line], vocabulary: Vocabulary) -> Found | None:
    """Find the number behind a label that says number or is followed by a sign for it."""
    for line in lines:
        if has_word(line.text, vocabulary.tax_id_labels):
            continue
        folded = plain_same_length(line.text)
        for label in vocabulary.receipt_labels:
            match = _label_of_number(label).search(folded)
            value = _VALUE.match(line.text, match.end()) if match else None
            if value and _is_number(value["number"]):
                span = range(value.start("number"), value.end("number"))
                return Found(value["number"], value["number"], line, span, ("labelled",))
    return None


@cache
def _label_of_number(label: str) -> re.Pattern[str]:
    spaced = r"[\s\-]*".join(re.escape(word) for word in label.split())
    return re.compile(rf"(?<![^\W\d_]){spaced}[\s\-.]*(?:{_NUMBER_WORD}(?![^\W\d_])|[#:])")


def _is_number(text: str) -> bool:
    return sum(mark.isdigit() for mark in text) >= LEAST_DIGITS and not dates.has_date(text)


def receipt_type(lines: Sequence[Line], vocabulary: Vocabulary) -> Found | None:
    """Name the kind most words speak for; None when two are even."""
    votes: dict[str, list[Found]] = {}
    for line in lines:
        padded = f" {plain(line.text)} "
        for phrase, kind in vocabulary.types:
            if f" {phrase} " in padded:
                found = Found(kind, line.text, line, range(len(line.text)), ("words",))
                votes.setdefault(kind, []).append(found)
    ranked = sorted(votes.values(), key=len, reverse=True)
    if not ranked or (len(ranked) > 1 and len(ranked[0]) == len(ranked[1])):
        return None
    return ranked[0][0]
