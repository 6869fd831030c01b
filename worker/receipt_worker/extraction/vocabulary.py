"""What words mean on receipts, read once from the tables in `words/`.

Language and country knowledge is data: a language is a TOML file, and the code knows none by name.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from typing import Any

SHORT_PHRASE = 4  # letters up to which a phrase must be whole words, not part of a longer one
REMEMBERED_LINES = 2048  # every field looks at the same lines again
FUZZY_WORD = 4  # letters from which a word may be misread by one letter

_ZERO_IN_WORD = re.compile(r"(?<=[A-Za-z])0(?=[A-Za-z])")
_NOT_LETTERS = re.compile(r"[^a-z]+")


class Role(StrEnum):
    """What the amount on a labelled line is."""

    TOTAL = "total"
    SUBTOTAL = "subtotal"
    TAX = "tax"
    PAID = "paid"
    CHANGE = "change"
    ROUNDING = "rounding"
    DISCOUNT = "discount"
    TIP = "tip"
    NONE = "none"  # looks like one of the others and is none


class DateOrder(StrEnum):
    """Which of two small numbers is the day."""

    DAY_FIRST = "DMY"
    MONTH_FIRST = "MDY"
    UNKNOWN = ""


@dataclass(frozen=True)
class Country:
    """What follows from knowing the country."""

    code: str
    currency: str
    date_order: DateOrder
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)  # one of a kind, and a key of caches by that
class Vocabulary:
    """All tables together; phrases are in `plain` form."""

    phrases: tuple[tuple[str, Role], ...]  # longest first
    months: Mapping[str, int]
    date_labels: frozenset[str]
    other_dates: frozenset[str]
    card_words: frozenset[str]
    merchant_forms: tuple[str, ...]
    not_merchant: frozenset[str]
    street_endings: tuple[str, ...]
    other_sites: frozenset[str]  # web addresses of others: terminals, tills, offices
    countries: tuple[Country, ...]
    currencies: Mapping[str, str]  # sign -> ISO 4217


def plain(text: str) -> str:
    """Lower-case letters a-z with single spaces: accents dropped, everything else a space."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    letters = "".join(mark for mark in folded if not unicodedata.combining(mark))
    return _NOT_LETTERS.sub(" ", letters).strip()


@cache
def load(languages: tuple[str, ...] = ("en", "de")) -> Vocabulary:
    """Read the tables of these languages, and those of all countries and currencies."""
    tables = [_table(language) for language in languages]
    phrases = {
        (phrase, Role(role))
        for table in tables
        for role, listed in table["roles"].items()
        for phrase in listed
    }
    return Vocabulary(
        phrases=tuple(sorted(phrases, key=lambda item: (-len(item[0]), item))),
        months={
            name: number
            for table in tables
            for number, names in enumerate(table["dates"]["months"], start=1)
            for name in names
        },
        date_labels=_words(table["dates"]["labels"] for table in tables),
        other_dates=_words(table["dates"]["other"] for table in tables),
        card_words=_words(table["cards"]["words"] for table in tables),
        merchant_forms=tuple(form for table in tables for form in table["merchant"]["forms"]),
        not_merchant=_words(table["merchant"]["not_merchant"] for table in tables),
        street_endings=tuple(
            ending for table in tables for ending in table["merchant"]["street_endings"]
        ),
        other_sites=_words(table["merchant"]["other_sites"] for table in tables),
        countries=tuple(
            Country(code, row["currency"], DateOrder(row["date_order"]), tuple(row["words"]))
            for code, row in _table("countries").items()
        ),
        currencies={sign: code for code, signs in _table("currencies").items() for sign in signs},
    )


@lru_cache(maxsize=REMEMBERED_LINES)
def role_of(label: str, vocabulary: Vocabulary) -> Role | None:
    """Role of the longest phrase in a label, misread ones only when none is read exactly."""
    words = plain(_ZERO_IN_WORD.sub("o", label)).split()
    squeezed = "".join(words)
    if not squeezed:
        return None
    for holds in (_holds, _nearly_holds):
        for phrase, role in vocabulary.phrases:
            if holds(phrase, words, squeezed):
                return role
    return None


def has_word(text: str, words: Iterable[str]) -> bool:
    """Whether one of these phrases stands in the text as whole words."""
    padded = f" {plain(text)} "
    return any(f" {word} " in padded for word in words)


def _holds(phrase: str, words: list[str], squeezed: str) -> bool:
    """Say whether a phrase stands there exactly; a long one also glued to others."""
    if len(phrase) > SHORT_PHRASE:
        return phrase.replace(" ", "") in squeezed
    return f" {phrase} " in f" {' '.join(words)} "


def _nearly_holds(phrase: str, words: list[str], squeezed: str) -> bool:
    """Say whether a phrase stands there with one letter wrong in each of its words."""
    if len(phrase) > len(squeezed) + 1 + phrase.count(" "):
        return False
    parts = phrase.split()
    return any(
        all(map(_alike, parts, words[start : start + len(parts)]))
        for start in range(len(words) - len(parts) + 1)
    )


def _alike(wanted: str, read: str) -> bool:
    """Equal, or one letter misread, added or lost in a word that is long enough."""
    if wanted == read:
        return True
    if len(wanted) < FUZZY_WORD or abs(len(wanted) - len(read)) > 1:
        return False
    if len(wanted) == FUZZY_WORD and wanted[0] != read[:1]:
        return False  # cash and wash: in short words one letter is much
    start = next(
        (at for at, (a, b) in enumerate(zip(wanted, read, strict=False)) if a != b),
        min(len(wanted), len(read)),
    )
    left, right = wanted[start:], read[start:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:]


def _words(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(word for listed in lists for word in listed)


@cache
def _table(name: str) -> dict[str, Any]:
    text = (
        resources.files("receipt_worker.extraction")
        .joinpath(f"words/{name}.toml")
        .read_text(encoding="utf-8")
    )
    return tomllib.loads(text)
