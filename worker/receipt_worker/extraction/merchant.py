"""Who sold: a name near the top, told from addresses, numbers and slogans."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word, plain

HEAD_LINES = 12
LEAST_LETTERS = 3
_REGISTRATION = re.compile(r"\s*[(\[{][^)\]}]{0,24}[)\]}]?\s*$|\s+\d{5,}-?\w?\s*$")
_EDGES = re.compile(r"^[^\w&']+|[^\w.)&']+$")
_SITE = re.compile(r"(?:www\s?\.\s?|https?://)([a-z0-9\-]{3,40})\s?\.\s?[a-z]{2,3}", re.IGNORECASE)


@dataclass(frozen=True)
class MerchantFound:
    """A name as printed, with the line it stands on and how sure the place makes us."""

    name: str
    line: Line
    score: int


def merchant(lines: Sequence[Line], vocabulary: Vocabulary) -> MerchantFound | None:
    """Find the best name of the head; a web address further down when the head has none."""
    found = [
        MerchantFound(name, line, _score(line.text, name, place=place, vocabulary=vocabulary))
        for place, line in enumerate(lines[:HEAD_LINES])
        if (name := _name(line.text))
    ]
    found += [
        MerchantFound(match[1], line, 1) for line in lines if (match := _SITE.search(line.text))
    ]
    named = [item for item in found if item.score > 0]
    return max(named, key=lambda item: item.score, default=None)


def _name(text: str) -> str:
    name = _EDGES.sub("", _REGISTRATION.sub("", text.strip()))
    return name if len(plain(name).replace(" ", "")) >= LEAST_LETTERS else ""


def _score(text: str, name: str, *, place: int, vocabulary: Vocabulary) -> int:
    letters = sum(mark.isalpha() for mark in text)
    digits = sum(mark.isdigit() for mark in text)
    score = 12 - place
    if has_word(name, vocabulary.merchant_forms):
        score += 14
    if has_word(text, vocabulary.not_merchant):
        score -= 14
    if digits > letters or digits > 8:  # noqa: PLR2004 - a phone or a registration
        score -= 12
    if money.amounts(text):
        score -= 14
    if letters < 6:  # noqa: PLR2004 - logos read as scraps
        score -= 4
    return score
