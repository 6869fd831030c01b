"""Who sold: a name near the top, told from addresses, numbers, slogans and logos read as scraps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word, plain

HEAD_LINES = 12
LEAST_LETTERS = 3
WHOLE_NAME_LETTERS = 5  # beside the legal form; with fewer the name began on the line above

# What speaks for a line and against it; the head's first line begins with the place's points.
PLACE_POINTS = 12
FORM_POINTS = 14  # a legal form or a kind of shop
SITE_POINTS = 7  # a web address further down, where the head is a picture
AGAINST = 14  # a word or an amount that no name has
NUMBER_AGAINST = 12  # digits of a registration, a telephone, a post code
SCRAP_AGAINST = 9  # letters that the engine guessed

DOUBTFUL = 60.0  # confidence of a line below which it is a scrap
MANY_DIGITS = 8
FEW_LETTERS = 6

_REGISTRATION = re.compile(r"\s*[(\[{][^)\]}]{0,24}[)\]}]?\s*$|\s+\d{5,}-?\w?\s*$")
_EDGES = re.compile(r"^[^\w&']+|[^\w.)&']+$")
_POST_CODE = re.compile(r"(?<!\d)\d{5}(?!\d)")
_SITE = re.compile(r"www\s?[.,]\s?([a-z0-9\-]{3,40})\s?[.,]\s?(?:[a-z]{2,3})\b", re.IGNORECASE)


@dataclass(frozen=True)
class MerchantFound:
    """A name as printed, with the line it stands on and how much speaks for it."""

    name: str
    line: Line
    score: int


def merchant(lines: Sequence[Line], vocabulary: Vocabulary) -> MerchantFound | None:
    """Find the best name of the head; a web address further down when the head has none."""
    found = [
        MerchantFound(name, line, PLACE_POINTS - place + _points(line, name, vocabulary))
        for place, line in enumerate(_head(lines))
        if (name := _name(line.text))
    ]
    named = [item for item in (*found, *_sites(lines, vocabulary)) if item.score > 0]
    best = max(named, key=lambda item: item.score, default=None)
    return _completed(best, found, vocabulary) if best in found else best


def _head(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines above the first amount, where what was bought begins."""
    first = next(
        (place for place, line in enumerate(lines) if money.amounts(line.text)), len(lines)
    )
    return lines[: min(HEAD_LINES, max(1, first))]


def _name(text: str) -> str:
    name = _EDGES.sub("", _REGISTRATION.sub("", text.strip()))
    return name if _letters(plain(name)) >= LEAST_LETTERS else ""


def _points(line: Line, name: str, vocabulary: Vocabulary) -> int:
    text = line.text
    letters, digits = _letters(text), sum(mark.isdigit() for mark in text)
    points = FORM_POINTS if has_word(name, vocabulary.merchant_forms) else 0
    if has_word(text, vocabulary.not_merchant) or money.amounts(text):
        points -= AGAINST
    if digits > letters or digits > MANY_DIGITS or _POST_CODE.search(text):
        points -= NUMBER_AGAINST
    if _is_street(name, vocabulary):
        points -= NUMBER_AGAINST
    if line.confidence < DOUBTFUL or letters < FEW_LETTERS:
        points -= SCRAP_AGAINST
    return points


def _is_street(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether a word ends as streets do and a house number follows somewhere."""
    words = plain(name).split()
    return any(mark.isdigit() for mark in name) and any(
        word.endswith(vocabulary.street_endings) for word in words
    )


def _sites(lines: Sequence[Line], vocabulary: Vocabulary) -> list[MerchantFound]:
    return [
        MerchantFound(match[1], line, SITE_POINTS)
        for line in lines
        if (match := _SITE.search(line.text))
        and not has_word(match[1].replace("-", " "), vocabulary.other_sites)
    ]


def _completed(
    best: MerchantFound | None, found: Sequence[MerchantFound], vocabulary: Vocabulary
) -> MerchantFound | None:
    """Put the line above in front, where the best line holds little more than a legal form."""
    if best is None or not has_word(best.name, vocabulary.merchant_forms):
        return best
    rest = f" {plain(best.name)} "
    for form in vocabulary.merchant_forms:
        rest = rest.replace(f" {form} ", " ")
    if _letters(rest) >= WHOLE_NAME_LETTERS:
        return best
    above = [item for item in found if item.line.number == best.line.number - 1]
    if not above or _points(above[0].line, above[0].name, vocabulary) < 0:
        return best
    return MerchantFound(f"{above[0].name} {best.name}", best.line, best.score)


def _letters(text: str) -> int:
    return sum(mark.isalpha() for mark in text)
