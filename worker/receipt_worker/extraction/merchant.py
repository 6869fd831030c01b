"""Who sold: a name near the top, told from addresses, numbers, slogans and logos read as scraps."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from receipt_worker.extraction import contacts, money, names
from receipt_worker.extraction.lines import Line, Word
from receipt_worker.extraction.names import LEAST_LETTERS, letters, name_of
from receipt_worker.extraction.vocabulary import Vocabulary, alike, has_word, plain

HEAD_LINES = 12
WHOLE_NAME_LETTERS = 5  # beside the legal form; with fewer the name began on the line above

# What speaks for a line and against it; the head's first line begins with the place's points.
PLACE_POINTS = 12
LEGAL_POINTS = 20  # ends with a legal form: the entity that sold
FORM_POINTS = 14  # a kind of shop
ADDRESS_POINTS = 9  # the address follows
FOOT_POINTS = 8  # a legal entity further down, where the head is a picture
SITE_POINTS = 7  # a web address further down, where the head is a picture
REPEATED_POINTS = 10  # printed again, alone or with the place of a branch
AGAINST = 14  # a word or an amount that no name has
NUMBER_AGAINST = 12  # digits of a registration, a telephone, a post code
BELOW_AGAINST = 12  # an address stands above: that of another name
SCRAP_AGAINST = 9  # letters that the engine guessed

GUESSED = 30.0  # confidence of a line below which its letters alone name nobody
DOUBTFUL = 60.0  # confidence of a line below which it is a scrap
MANY_DIGITS = 8
SCRAP_WORD = 2  # letters a word, on average
LONG_FORM = 7  # letters from which a kind of shop is known with one wrong
LONG_LABEL = 9  # letters from which the label of a name needs no colon
MOST_LINES = 2  # below its first line to which a name goes on

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
    head = [_without_specks(line) for line in _head(lines)]
    found = [
        _labelled(line, place, vocabulary)
        or MerchantFound(name, line, PLACE_POINTS - place + _points(head, place, vocabulary))
        for place, line in enumerate(head)
        if (name := name_of(line.text))
    ]
    further = (*_entities(lines[len(head) :], vocabulary), *_sites(lines, vocabulary))
    named = [item for item in (*found, *further) if item.score > 0 and not _is_guess(item)]
    best = max(named, key=lambda item: item.score, default=None)
    if best is None or best not in found:
        return best
    name = _whole(best, head, found, vocabulary)
    return replace(best, name=names.put_right(name, vocabulary))


def _head(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines above the first amount, where what was bought begins."""
    first = next(
        (place for place, line in enumerate(lines) if money.amounts(line.text)), len(lines)
    )
    return lines[: min(HEAD_LINES, max(1, first))]


def _is_guess(found: MerchantFound) -> bool:
    """Say whether an engine made letters of a drawing, and nothing speaks for them."""
    return found.line.confidence < GUESSED and found.score <= PLACE_POINTS - SCRAP_AGAINST


def _labelled(line: Line, place: int, vocabulary: Vocabulary) -> MerchantFound | None:
    """Return the name behind a label, as card terminals and market places print it."""
    folded = contacts.plain_same_length(line.text)
    for label in vocabulary.merchant_labels:
        behind = r"\s?:\s?" if len(label) < LONG_LABEL else r"(?:\s?:)?\s"
        match = re.match(rf"\W*{label}{behind}", folded)
        name = name_of(line.text[match.end() :]) if match else ""
        if name and not any(mark.isdigit() for mark in name):
            return MerchantFound(name, line, PLACE_POINTS - place + LEGAL_POINTS)
    return None


def _without_specks(line: Line) -> Line:
    """Drop one or two guessed marks that stand apart at either end of a row."""
    words = line.words
    while len(words) > 1 and _is_speck(words[0], words[1]):
        words = words[1:]
    while len(words) > 1 and _is_speck(words[-1], words[-2]):
        words = words[:-1]
    return replace(line, words=words)


def _is_speck(word: Word, near: Word) -> bool:
    gap = max(near.box.x - word.box.right, word.box.x - near.box.right)
    few = sum(mark.isalnum() for mark in word.text) <= SCRAP_WORD
    return few and word.confidence < DOUBTFUL and gap > near.box.height


def _points(head: Sequence[Line], place: int, vocabulary: Vocabulary) -> int:
    line = head[place]
    text, name = line.text, name_of(line.text)
    lettered, digits = letters(text), sum(mark.isdigit() for mark in name)
    legal = _is_entity(line, vocabulary)
    points = LEGAL_POINTS if legal else 0
    if not legal and has_word(text, vocabulary.not_merchant):
        points -= AGAINST
    elif not legal and _has_form(line, vocabulary):
        points = FORM_POINTS
    if money.amounts(text):
        points -= AGAINST
    if digits > lettered or digits > MANY_DIGITS or _POST_CODE.search(text):
        points -= NUMBER_AGAINST
    if not legal and _is_street(name, vocabulary):
        points -= NUMBER_AGAINST
    if line.confidence < DOUBTFUL or lettered < LEAST_LETTERS or _is_scrap(name):
        return points - SCRAP_AGAINST
    return points + _points_of_neighbours(head, place, vocabulary)


def _is_street(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether a street's word stands beside a number, or ends the line."""
    last = plain(name).split()[-1:]
    return contacts.is_street(name, vocabulary) or vocabulary.address_words.issuperset(last)


def _points_of_neighbours(head: Sequence[Line], place: int, vocabulary: Vocabulary) -> int:
    """Weigh what stands above and below a name."""
    points = 0
    if any(contacts.is_street(above.text, vocabulary) for above in head[:place]):
        points -= BELOW_AGAINST
    if place + 1 < len(head) and contacts.is_street(head[place + 1].text, vocabulary):
        points += ADDRESS_POINTS
    if _is_repeated(head, place, vocabulary):
        points += REPEATED_POINTS
    return points


def _is_entity(line: Line, vocabulary: Vocabulary) -> bool:
    """Say whether a legal form ends the name; drawings are read as short ones."""
    form = names.legal_form(name_of(line.text), vocabulary)
    short = form is not None and len(form.replace(" ", "")) <= names.SHORT_FORM
    return form is not None and not (short and line.confidence < DOUBTFUL)


def _has_form(line: Line, vocabulary: Vocabulary) -> bool:
    """Say whether a kind of shop is in the name; drawings are read as short ones."""
    forms = vocabulary.merchant_forms
    if line.confidence < DOUBTFUL:
        forms = frozenset(form for form in forms if len(form) > names.SHORT_FORM)
    name = name_of(line.text)
    return has_word(name, forms) or any(_is_form(word, forms) for word in plain(name).split())


def _is_form(word: str, forms: AbstractSet[str]) -> bool:
    """Say whether a word is a kind of shop, a long one with a letter wrong."""
    return word in forms or (len(word) >= LONG_FORM and any(alike(form, word) for form in forms))


def _is_repeated(head: Sequence[Line], place: int, vocabulary: Vocabulary) -> bool:
    """Say whether another line begins with this name, misread or not, and is no company's."""
    name = plain(name_of(head[place].text)).split()
    return len(name) > 1 and any(
        len(words := plain(line.text).split()) >= len(name)
        and all(map(alike, name, words))
        and not _is_entity(line, vocabulary)
        for other, line in enumerate(head)
        if other != place
    )


def _is_scrap(name: str) -> bool:
    """Say whether the words are one or two marks long, as engines read from drawings."""
    words = name.split()
    return len(words) > 1 and letters(name) <= SCRAP_WORD * len(words)


def _entities(lines: Sequence[Line], vocabulary: Vocabulary) -> list[MerchantFound]:
    """Find legal entities further down, each up to the end of its legal form."""
    found = []
    for line in lines:
        if not names.has_legal(line.text, vocabulary):
            continue
        words = line.text.split()
        ends = [
            place
            for place in range(1, len(words) + 1)
            if names.is_legal(" ".join(words[:place]), vocabulary)
        ]
        name = name_of(" ".join(words[: ends[-1]])) if ends else ""
        if (
            name
            and line.confidence >= DOUBTFUL
            and letters(names.own_words(name, vocabulary)) >= LEAST_LETTERS
            and not has_word(line.text, vocabulary.other_sites)
            and not money.amounts(line.text)
        ):
            found.append(MerchantFound(names.put_right(name, vocabulary), line, FOOT_POINTS))
    return found


def _sites(lines: Sequence[Line], vocabulary: Vocabulary) -> list[MerchantFound]:
    return [
        MerchantFound(match[1], line, SITE_POINTS)
        for line in lines
        if (match := _SITE.search(line.text))
        and not has_word(match[1].replace("-", " "), vocabulary.other_sites)
    ]


def _whole(
    best: MerchantFound,
    head: Sequence[Line],
    found: Sequence[MerchantFound],
    vocabulary: Vocabulary,
) -> str:
    """Return the best name with its other lines; a legal one below may begin with it."""
    below = [
        item
        for item in found
        if best.line.number < item.line.number <= best.line.number + MOST_LINES
    ]
    for item in (*reversed(below), best):
        name, begins = _completed(_closed(item, head), item.line.number, found, vocabulary)
        if item is best or (begins <= best.line.number and names.is_legal(name, vocabulary)):
            return name
    return best.name


def _closed(best: MerchantFound, head: Sequence[Line]) -> str:
    """Put the line below behind a name whose bracket it closes."""
    below = next((line for line in head if line.number == best.line.number + 1), None)
    text = best.line.text
    if below is None or text.count("(") <= text.count(")") or ")" not in below.text:
        return best.name
    return name_of(f"{text} {below.text}")


def _completed(
    name: str, number: int, found: Sequence[MerchantFound], vocabulary: Vocabulary
) -> tuple[str, int]:
    """Put the lines above in front, as long as the name shows that it began there."""
    for above in sorted(found, key=lambda item: -item.line.number):
        if above.line.number >= number:
            continue
        text = names.trimmed(above.line.text)
        begun = _begins_above(name, vocabulary) or _closes(name, text)
        if above.line.number < number - 1 or above.score < 0 or not begun:
            break
        name, number = f"{text} {name}", above.line.number
    return name, number


def _begins_above(name: str, vocabulary: Vocabulary) -> bool:
    """Say whether a name is little more than a legal form or kinds of shop, or begins with one."""
    rest = names.own_words(name, vocabulary)
    own = [word for word in rest.split() if not _is_form(word, vocabulary.merchant_forms)]
    if not names.is_legal(name, vocabulary):
        return not own
    return letters("".join(own)) < WHOLE_NAME_LETTERS or rest.split()[0] != own[0]


def _closes(name: str, above: str) -> bool:
    """Say whether a name ends a bracket that the line above opened."""
    return name.count(")") > name.count("(") and above.count("(") > above.count(")")
