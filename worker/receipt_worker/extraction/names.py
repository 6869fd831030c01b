"""What a company's printed name is: cleaned of numbers, its legal form found and put right. Pure.

Legal forms are a closed set, so one that is nearly read is that one; nothing else of a name is
ever changed.
"""

import re
from functools import cache
from typing import NamedTuple

from receipt_worker.extraction.contacts import plain_same_length
from receipt_worker.extraction.vocabulary import Vocabulary, plain

LEAST_LETTERS = 3
SHORT_FORM = 2  # letters of a legal form that scraps of a drawing have by chance
LEAST_ABBREVIATED = 3  # letters of a word without vowels that may be misread by one

_BRACKET = re.compile(r"\s*[(\[{][^)\]}]{0,24}[)\]}]?\s*$")
_NUMBER_BEHIND = re.compile(r"\s+\d{5,}\s?-?\s?\w?[)\]}]?\s*$")
_NUMBER_AND_REST = re.compile(r"\s*[(\[{]\s?\d{4,8}\s?-?\s?[A-Z]\s?[)\]}].*$", re.IGNORECASE)
_EDGES = re.compile(r"^[^\w&']+|[^\w.()&']+$")
_END = r"[\W_]*$"  # of a name: its last marks are no letters
_VOWEL = re.compile(r"[aeiouy]")

# What engines read for letters; names have no currency signs, and no digits inside their words.
_SIGNS = {"\u00a5": "Y", "$": "S", "\u00a7": "S"}
_DIGITS = {"0": "O", "1": "I"}
_SIGN_IN_WORD = re.compile(
    r"(?<!\d)[\u00a5$\u00a7](?=[^\W\d_]|[./]|$)|(?<=[^\W\d_])[\u00a5$\u00a7](?!\d)"
)
_DIGIT_IN_WORD = re.compile(r"(?<=[A-Z])[01](?=[A-Z])|(?<=[A-Z]\.)[01](?=\.[A-Z])")
_LOOKALIKES = {"s": "$5\u00a7", "b": "8r6"}


class _Form(NamedTuple):
    """Where a form of a company begins in a name, which it is, and whether it was misread."""

    start: int
    form: str
    misread: bool


def name_of(text: str) -> str:
    """Return the name on a line without numbers and marks around it; empty when none is left."""
    name, before = _NUMBER_AND_REST.sub("", text.strip()), ""
    while name != before:
        before, name = name, trimmed(_without_bracket(_NUMBER_BEHIND.sub("", name)))
    words = name.split()
    if len(words) >= LEAST_LETTERS and all(len(word) == 1 for word in words):
        name = "".join(words)  # letters printed apart
    return name if letters(plain(name)) >= LEAST_LETTERS else ""


def trimmed(text: str) -> str:
    """Drop what engines make of rules and specks beside a name."""
    return _EDGES.sub("", text)


def letters(text: str) -> int:
    """Count the letters."""
    return sum(mark.isalpha() for mark in text)


def _without_bracket(name: str) -> str:
    """Drop a bracket at the end that has a number in it or too few letters to name a place."""
    match = _BRACKET.search(name)
    if match is None:
        return name
    inside = match[0].strip(" ()[]{}")
    kept = len(inside) >= LEAST_LETTERS and inside.replace(" ", "").isalpha()
    return name if kept else name[: match.start()]


def legal_form(name: str, vocabulary: Vocabulary) -> str | None:
    """Return the form of a company with which a name ends, one letter of a word misread at most."""
    found = _form_at_end(name, vocabulary)
    return found.form if found else None


def is_legal(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether a name ends with the form of a company."""
    return _form_at_end(name, vocabulary) is not None


def has_legal(text: str, vocabulary: Vocabulary) -> bool:
    """Say whether a form of a company stands anywhere: without one no part of a text is legal."""
    folded = plain_same_length(text)
    return any(pattern.search(folded) for pattern in _anywhere(vocabulary.legal_forms))


def put_right(name: str, vocabulary: Vocabulary) -> str:
    """Write a legal form as it is printed where it was misread, and letters read as other marks."""
    found = _form_at_end(name, vocabulary)
    if found is None or not found.misread:
        return _lettered(name)
    own, read = _lettered(name[: found.start]), name[found.start :]
    places = [place for place, mark in enumerate(read) if mark.isalnum() or mark in _SIGNS]
    marks = list(read)
    for place, wanted in zip(places, found.form.replace(" ", ""), strict=False):
        marks[place] = wanted if marks[place].islower() else wanted.upper()
    return own + "".join(marks)


def _lettered(name: str) -> str:
    """Put letters back where no number can be: a sign beside letters, 0 and 1 between them."""
    name = _SIGN_IN_WORD.sub(lambda match: _SIGNS[match[0]], name)
    return _DIGIT_IN_WORD.sub(lambda match: _DIGITS[match[0]], name)


def own_words(name: str, vocabulary: Vocabulary) -> str:
    """Return what is left of a name in plain words without its legal forms."""
    found = _form_at_end(name, vocabulary)
    rest = plain(name[: found.start] if found else name)
    for form in vocabulary.legal_forms:
        rest = f" {rest} ".replace(f" {form} ", " ").strip()
    return rest


def _form_at_end(name: str, vocabulary: Vocabulary) -> _Form | None:
    """Find the longest form at the end."""
    folded = plain_same_length(name)
    for form in vocabulary.legal_forms:
        for misread, pattern in enumerate(_patterns(form)):
            match = pattern.search(folded)
            if match is not None:
                return _Form(match.start(), form, misread=bool(misread))
    return None


@cache
def _patterns(form: str) -> tuple[re.Pattern[str], ...]:
    """Return what finds a form at the end, and what finds it misread.

    One of abbreviations is found torn apart and glued on as well, and with a letter wrong in each;
    a slash between two letters tells them from other words.
    """
    words = form.split()
    spaced = r"(?<![^\W_])" + r"[\W_]+".join(words)
    if all(len(word) == 1 for word in words):
        near = "/".join(f"[{word}{_LOOKALIKES.get(word, '')}]" for word in words)
        return re.compile(spaced + _END), re.compile(rf"(?<![^\W_]){near}{_END}")
    if len(form) <= LEAST_ABBREVIATED or not all(map(_is_abbreviation, words)):
        return (re.compile(spaced + _END),)
    near = r"[\W_]*".join(map(_one_wrong, words))
    torn = r"[\W_]*".join(form.replace(" ", "")) if len(words) > 1 else spaced
    return re.compile(torn + _END), re.compile(rf"(?<![^\W_]){near}{_END}")


@cache
def _anywhere(forms: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return what finds each form wherever it stands."""
    return tuple(
        re.compile(pattern.pattern.removesuffix(_END))
        for form in forms
        for pattern in _patterns(form)
    )


def _is_abbreviation(word: str) -> bool:
    """Say whether this is no word that could stand there for itself."""
    return len(word) >= LEAST_ABBREVIATED and not _VOWEL.search(word)


def _one_wrong(word: str) -> str:
    ways = (rf"{word[:place]}[^\W_]{word[place + 1 :]}" for place in range(len(word)))
    return f"(?:{'|'.join(ways)})"
