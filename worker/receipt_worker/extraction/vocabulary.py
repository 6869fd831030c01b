"""What words mean on receipts: the tables of `words/`, made ready for matching.

Language and country knowledge is data: a language is a TOML file, and the code knows none by name.
A receipt is read with the words of the languages that it speaks, as one language's change is
another one's restaurant.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

from receipt_worker.extraction import tables
from receipt_worker.extraction.tables import DateOrder, LanguageTable, Method, ReceiptType, Role

T = TypeVar("T")

LANGUAGES = ("en", "de", "fr", "es", "nl", "it", "pt")
LEAST_WORDS = 2  # of its own that say a language is spoken; one may be a name
SHORT_PHRASE = 4  # letters up to which a phrase must be whole words, not part of a longer one
REMEMBERED_LINES = 2048  # every field looks at the same lines again
REMEMBERED_TEXTS = 8192  # lines, names and words of them
REMEMBERED_SETS = 64  # of languages spoken on one receipt
FUZZY_WORD = 4  # letters from which a word may be misread by one letter

_ZERO_IN_WORD = re.compile(r"(?<=[A-Za-z])0(?=[A-Za-z])")
_SHAPES = {"?": "[A-Z]", "#": "[0-9]"}
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True)
class Country:
    """What follows from knowing the country."""

    code: str
    currency: str
    date_order: DateOrder
    words: tuple[str, ...]
    post_code: re.Pattern[str] | None = None


@dataclass(frozen=True)
class World:
    """What is the same in every language; signs are in lower case."""

    countries: tuple[Country, ...]
    signs: Mapping[str, str]  # sign -> ISO 4217
    shared_signs: Mapping[str, tuple[str, ...]]
    whole_currencies: frozenset[str]
    networks: tuple[tuple[str, str], ...]  # phrase, network; longest first


@dataclass(frozen=True, eq=False)  # one of a kind, and a key of caches by that
class Vocabulary:
    """Some languages together; phrases are in `plain` form."""

    languages: tuple[LanguageTable, ...]
    world: World
    phrases: tuple[tuple[str, Role], ...]  # longest first
    phrase_words: frozenset[str]  # all words of them
    lookalikes: frozenset[str]  # never taken for a misread label
    months: Mapping[str, int]
    date_labels: frozenset[str]
    other_dates: frozenset[str]
    card_words: frozenset[str]
    card_numbers: frozenset[str]  # in front of a card's number
    methods: tuple[tuple[str, Method], ...]  # longest first
    receipt_labels: tuple[str, ...]  # longest first, as the other labels
    tax_id_labels: tuple[str, ...]
    phone_labels: tuple[str, ...]
    types: tuple[tuple[str, ReceiptType], ...]
    units: frozenset[str]
    legal_forms: tuple[str, ...]  # longest first
    address_words: frozenset[str]
    merchant_forms: frozenset[str]
    not_merchant: frozenset[str]
    merchant_labels: tuple[str, ...]  # longest first; a name stands behind one
    street_endings: tuple[str, ...]
    other_sites: frozenset[str]  # web addresses of others: terminals, tills, offices


@lru_cache(maxsize=REMEMBERED_TEXTS)
def plain(text: str) -> str:
    """Lower-case letters a-z with single spaces: accents dropped, everything else a space."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    letters = "".join(mark for mark in folded if not unicodedata.combining(mark))
    return _NOT_LETTERS.sub(" ", letters).strip()


@cache
def load(mounted: Path | None = None) -> Vocabulary:
    """Read all tables, and the one a user mounted; raises ValueError when that one is wrong."""
    languages = [tables.language(name) for name in LANGUAGES]
    user = tables.of_user(mounted) if mounted else None
    if user is not None:
        languages.append(user.model_copy(update={"widespread": True}))
    return _vocabulary(tuple(languages), _world(user or tables.UserTable()))


def make_ready(vocabulary: Vocabulary) -> None:
    """Put each language together with the widespread ones, as receipts will ask for them."""
    widespread = {place for place, table in enumerate(vocabulary.languages) if table.widespread}
    for place in range(len(vocabulary.languages)):
        spoken_here = _part(vocabulary, tuple(sorted(widespread | {place})))
        _by_shorter(spoken_here)
        _forms(spoken_here)


def spoken(vocabulary: Vocabulary, texts: Iterable[str]) -> Vocabulary:
    """Keep the languages a receipt speaks, by their own words on it, and the widespread ones."""
    return _spoken(vocabulary, f" {plain(' '.join(texts))} ")


@lru_cache(maxsize=REMEMBERED_SETS)
def _spoken(vocabulary: Vocabulary, text: str) -> Vocabulary:
    counts = [
        sum(f" {word} " in text for word in _own_words(vocabulary, place))
        for place in range(len(vocabulary.languages))
    ]
    least = max(LEAST_WORDS, max(counts) / 2)
    kept = tuple(
        place
        for place, table in enumerate(vocabulary.languages)
        if table.widespread or counts[place] >= least
    )
    return _part(vocabulary, kept)


@cache
def _own_words(vocabulary: Vocabulary, place: int) -> frozenset[str]:
    """Return the words of a language that no widespread one has."""
    table = vocabulary.languages[place]
    if table.widespread:
        return frozenset()
    others = (_telling(other) for other in vocabulary.languages if other.widespread)
    return _telling(table).difference(*others)


def _telling(table: LanguageTable) -> frozenset[str]:
    roles = (phrase for phrases in table.roles.values() for phrase in phrases)
    paid = (phrase for phrases in table.payments.values() for phrase in phrases)
    return _words([roles, paid, table.dates.labels, table.merchant.not_merchant])


@cache
def _part(vocabulary: Vocabulary, places: tuple[int, ...]) -> Vocabulary:
    if len(places) == len(vocabulary.languages):
        return vocabulary
    return _vocabulary(tuple(vocabulary.languages[place] for place in places), vocabulary.world)


def _vocabulary(languages: tuple[LanguageTable, ...], world: World) -> Vocabulary:
    return Vocabulary(
        languages=languages,
        world=world,
        phrases=_longest_first(
            (phrase, role)
            for table in languages
            for role, phrases in table.roles.items()
            for phrase in phrases
        ),
        phrase_words=frozenset(
            word
            for table in languages
            for phrases in table.roles.values()
            for phrase in phrases
            for word in plain(phrase).split()
        ),
        lookalikes=_words(table.lookalikes for table in languages),
        months={
            plain(name): number
            for table in languages
            for number, names in enumerate(table.dates.months, start=1)
            for name in names
        },
        date_labels=_words(table.dates.labels for table in languages),
        other_dates=_words(table.dates.other for table in languages),
        card_words=_words(table.cards.words for table in languages),
        card_numbers=_words(table.cards.numbers for table in languages),
        methods=_longest_first(
            (phrase, method)
            for table in languages
            for method, phrases in table.payments.items()
            for phrase in phrases
        ),
        receipt_labels=_labels(table.numbers.receipt for table in languages),
        tax_id_labels=_labels(table.numbers.tax_id for table in languages),
        phone_labels=_labels(table.numbers.phone for table in languages),
        types=_longest_first(
            (phrase, kind)
            for table in languages
            for kind, phrases in table.types.items()
            for phrase in phrases
        ),
        units=_words(table.units.names for table in languages),
        legal_forms=_labels(table.merchant.legal for table in languages),
        address_words=_words(table.merchant.address for table in languages),
        merchant_forms=_words(table.merchant.forms for table in languages),
        not_merchant=_words(table.merchant.not_merchant for table in languages),
        merchant_labels=_labels(table.merchant.labels for table in languages),
        street_endings=tuple(sorted(_words(table.merchant.street_endings for table in languages))),
        other_sites=_words(table.merchant.other_sites for table in languages),
    )


def _world(user: tables.UserTable) -> World:
    countries = {**tables.countries(), **user.countries}
    shipped = tables.currencies()
    signs = [*shipped.signs.items(), *user.currencies.signs.items()]
    shared = {**shipped.shared, **user.currencies.shared}
    networks = [*tables.networks().items(), *user.networks.items()]
    return World(
        countries=tuple(
            Country(
                code,
                row.currency,
                row.date_order,
                tuple(map(plain, row.words)),
                _post_code(row.post_codes),
            )
            for code, row in countries.items()
        ),
        signs={sign.casefold(): code for code, listed in signs for sign in listed},
        shared_signs={sign.casefold(): codes for sign, codes in shared.items()},
        whole_currencies=frozenset(shipped.whole.codes + user.currencies.whole.codes),
        networks=_longest_first((phrase, name) for name, listed in networks for phrase in listed),
    )


def _post_code(shapes: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return what finds these shapes as words of their own."""
    if not shapes:
        return None
    ways = (re.sub(r"[?#]", lambda sign: _SHAPES[sign[0]], shape) for shape in shapes)
    return re.compile(rf"(?<!\w)(?:{'|'.join(ways)})(?!\w)")


@lru_cache(maxsize=REMEMBERED_LINES)
def role_of(label: str, vocabulary: Vocabulary) -> Role | None:
    """Role of the longest phrase in a label; a misread one only where it says more."""
    words = plain(_ZERO_IN_WORD.sub("o", label)).split()
    squeezed = "".join(words)
    if not squeezed:
        return None
    padded = f" {' '.join(words)} "
    exact = next(
        (
            vocabulary.phrases[place]
            for place, (glued, apart) in enumerate(_forms(vocabulary))
            if (glued in squeezed if glued else apart in padded)
        ),
        None,
    )
    near = [nearly(word, vocabulary) for word in words if word not in vocabulary.lookalikes]
    begun = frozenset().union(*near)
    for phrase, role in vocabulary.phrases:
        if exact is not None and not _says_more(phrase, exact[0]):
            continue
        # A short word that says nothing of an amount is too like what can be bought.
        short = role is Role.NONE and len(phrase) <= FUZZY_WORD
        if not short and phrase.split()[0] in begun and _nearly_holds(phrase, near):
            return role
    return exact[1] if exact else None


@cache
def _says_more(phrase: str, other: str) -> bool:
    """Say whether a phrase has all words of another one and more: total discount beside total."""
    return len(phrase) > len(other) and set(phrase.split()) > set(other.split())


def has_word(text: str, words: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether one of these phrases stands in the text as whole words."""
    padded = f" {plain(text)} "
    return any(word in padded for word in _padded(words))


@cache
def _padded(words: frozenset[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f" {word} " for word in words)


@cache
def _forms(vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
    """Return how each phrase is looked for: a long one also glued to others, a short one apart."""
    return tuple(
        (phrase.replace(" ", "") if len(phrase) > SHORT_PHRASE else "", f" {phrase} ")
        for phrase, _ in vocabulary.phrases
    )


def _nearly_holds(phrase: str, near: Sequence[frozenset[str]]) -> bool:
    """Say whether a phrase stands there with one letter wrong in each of its words."""
    parts = phrase.split()
    return any(
        all(part in words for part, words in zip(parts, near[start:], strict=False))
        for start in range(len(near) - len(parts) + 1)
    )


@lru_cache(maxsize=REMEMBERED_TEXTS)
def nearly(word: str, vocabulary: Vocabulary) -> frozenset[str]:
    """Return the words of labels for which this one may have been misread."""
    known = _by_shorter(vocabulary)
    near = frozenset().union(*(known.get(shorter, ()) for shorter in _shorter(word)))
    return frozenset(part for part in near if alike(part, word))


@cache
def _by_shorter(vocabulary: Vocabulary) -> Mapping[str, frozenset[str]]:
    """Index words by what is left of them without a letter: words that are alike share one."""
    found: dict[str, set[str]] = {}
    for part in vocabulary.phrase_words:
        for shorter in _shorter(part):
            found.setdefault(shorter, set()).add(part)
    return {shorter: frozenset(parts) for shorter, parts in found.items()}


def _shorter(word: str) -> frozenset[str]:
    """Return the word, and the word without each of its letters."""
    return frozenset({word, *(word[:place] + word[place + 1 :] for place in range(len(word)))})


def alike(wanted: str, read: str) -> bool:
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
    return frozenset(plain(word) for listed in lists for word in listed) - {""}


def _labels(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted(_words(lists), key=lambda word: (-len(word), word)))


def _longest_first(pairs: Iterable[tuple[str, T]]) -> tuple[tuple[str, T], ...]:
    """Return phrases in plain form with their meaning; a longer one says more."""
    known = {(plain(phrase), meaning) for phrase, meaning in pairs}
    return tuple(sorted(known, key=lambda item: (-len(item[0]), item[0], str(item[1]))))
