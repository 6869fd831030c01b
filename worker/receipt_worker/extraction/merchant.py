"""Who sold: a name near the top, told from addresses, numbers, slogans and logos read as scraps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from receipt_worker.extraction import contacts, money
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.vocabulary import Vocabulary, has_word, plain

HEAD_LINES = 12
LEAST_LETTERS = 3
WHOLE_NAME_LETTERS = 5  # beside the legal form; with fewer the name began on the line above

# What speaks for a line and against it; the head's first line begins with the place's points.
PLACE_POINTS = 12
LEGAL_POINTS = 20  # ends with a legal form: the entity that sold
FORM_POINTS = 14  # a kind of shop
ADDRESS_POINTS = 9  # the address follows
FOOT_POINTS = 8  # a legal entity further down, where the head is a picture
SITE_POINTS = 7  # a web address further down, where the head is a picture
AGAINST = 14  # a word or an amount that no name has
NUMBER_AGAINST = 12  # digits of a registration, a telephone, a post code
BELOW_AGAINST = 12  # an address stands above: that of another name
SCRAP_AGAINST = 9  # letters that the engine guessed

DOUBTFUL = 60.0  # confidence of a line below which it is a scrap
MANY_DIGITS = 8
SCRAP_WORD = 2  # letters a word, on average

_REGISTRATION = re.compile(r"\s*[(\[{][^)\]}]{0,24}[)\]}]?\s*$|\s+\d{5,}-?\w?\s*$")
_NUMBER_AND_REST = re.compile(r"\s*[(\[{]\s?\d{4,8}\s?-?\s?[A-Z]\s?[)\]}].*$", re.IGNORECASE)
_EDGES = re.compile(r"^[^\w&']+|[^\w.()&']+$")
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
    head = _head(lines)
    found = [
        MerchantFound(
            name,
            line,
            PLACE_POINTS - place + _points(head, place, vocabulary),
        )
        for place, line in enumerate(head)
        if (name := _name(line.text))
    ]
    further = (*_entities(lines[len(head) :], vocabulary), *_sites(lines, vocabulary))
    named = [item for item in (*found, *further) if item.score > 0]
    best = max(named, key=lambda item: item.score, default=None)
    return _completed(best, found, vocabulary) if best in found else best


def _head(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines above the first amount, where what was bought begins."""
    first = next(
        (place for place, line in enumerate(lines) if money.amounts(line.text)), len(lines)
    )
    return lines[: min(HEAD_LINES, max(1, first))]


def _name(text: str) -> str:
    name, before = _NUMBER_AND_REST.sub("", text.strip()), ""
    while name != before:
        before, name = name, _EDGES.sub("", _REGISTRATION.sub("", name))
    words = name.split()
    if len(words) >= LEAST_LETTERS and all(len(word) == 1 for word in words):
        name = "".join(words)  # letters printed apart
    return name if _letters(plain(name)) >= LEAST_LETTERS else ""


def _points(head: Sequence[Line], place: int, vocabulary: Vocabulary) -> int:
    line = head[place]
    text, name = line.text, _name(line.text)
    letters, digits = _letters(text), sum(mark.isdigit() for mark in name)
    legal = _ends_legally(name, vocabulary)
    points = LEGAL_POINTS if legal else 0
    if not legal and has_word(name, vocabulary.merchant_forms):
        points = FORM_POINTS
    if not legal and has_word(text, vocabulary.not_merchant):
        points -= AGAINST
    if money.amounts(text):
        points -= AGAINST
    if digits > letters or digits > MANY_DIGITS or _POST_CODE.search(text):
        points -= NUMBER_AGAINST
    if contacts.is_street(name, vocabulary) and not legal:
        points -= NUMBER_AGAINST
    if line.confidence < DOUBTFUL or letters < LEAST_LETTERS or _is_scrap(name):
        return points - SCRAP_AGAINST
    if any(contacts.is_street(above.text, vocabulary) for above in head[:place]):
        points -= BELOW_AGAINST
    if place + 1 < len(head) and contacts.is_street(head[place + 1].text, vocabulary):
        points += ADDRESS_POINTS
    return points


def _is_scrap(name: str) -> bool:
    """Say whether the words are one or two marks long, as engines read from drawings."""
    words = name.split()
    return len(words) > 1 and _letters(name) <= SCRAP_WORD * len(words)


def _entities(lines: Sequence[Line], vocabulary: Vocabulary) -> list[MerchantFound]:
    """Find legal entities further down, each up to the end of its legal form."""
    found = []
    for line in lines:
        words = line.text.split()
        ends = [
            place
            for place in range(1, len(words) + 1)
            if _ends_legally(" ".join(words[:place]), vocabulary)
        ]
        name = _name(" ".join(words[: ends[-1]])) if ends else ""
        if (
            name
            and line.confidence >= DOUBTFUL
            and _letters(_own_words(name, vocabulary)) >= LEAST_LETTERS
            and not has_word(line.text, vocabulary.other_sites)
            and not money.amounts(line.text)
        ):
            found.append(MerchantFound(name, line, FOOT_POINTS))
    return found


def _ends_legally(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether a name ends with the form of a company."""
    words = f" {plain(name)}"
    return any(words.endswith(f" {form}") for form in vocabulary.legal_forms)


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
    """Put the lines above in front, as long as the name shows that it began there."""
    if best is None:
        return None
    name, number = best.name, best.line.number
    for above in sorted(found, key=lambda item: -item.line.number):
        if above.line.number >= number:
            continue
        if above.line.number < number - 1 or above.score < 0 or not _begins_above(name, vocabulary):
            break
        name, number = f"{_EDGES.sub('', above.line.text)} {name}", above.line.number
    return MerchantFound(name, best.line, best.score)


def _begins_above(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether little more than a legal form is left, a bracket only ends, or a kind begins."""
    if not _ends_legally(name, vocabulary):
        return False
    rest = _own_words(name, vocabulary)
    return (
        _letters(rest) < WHOLE_NAME_LETTERS
        or name.count(")") > name.count("(")
        or rest.split()[0] in vocabulary.merchant_forms
    )


def _own_words(name: str, vocabulary: Vocabulary) -> str:
    """Return what is left of a name without its legal forms."""
    rest = f" {plain(name)} "
    for form in vocabulary.legal_forms:
        rest = rest.replace(f" {form} ", " ")
    return rest.strip()


def _letters(text: str) -> int:
    return sum(mark.isalpha() for mark in text)
