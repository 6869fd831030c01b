"""Which country a receipt is from and which currency it counts in. Never a silent default."""

from collections import Counter
from collections.abc import Mapping, Sequence

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.tables import DateOrder
from receipt_worker.extraction.vocabulary import Country, Vocabulary, plain

PRINTED = "printed"
FROM_COUNTRY = "derived_from_country"
FROM_WORDS = "words"


def country(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[Country, Found] | None:
    """Name the country most words speak for; None when two are even or none speaks."""
    found = _most_spoken_for(lines, vocabulary)
    return (found[0], _telling(found[0], lines)) if len(found) == 1 else None


def _most_spoken_for(lines: Sequence[Line], vocabulary: Vocabulary) -> tuple[Country, ...]:
    """Name the countries that most words and post codes speak for."""
    text = f" {plain(' '.join(line.text for line in lines))} "
    counts = {
        known: sum(text.count(f" {word} ") for word in known.words) + _post_codes(known, lines)
        for known in vocabulary.world.countries
    }
    most = max(counts.values())
    return tuple(known for known, count in counts.items() if count == most > 0)


def _post_codes(known: Country, lines: Sequence[Line]) -> int:
    if known.post_code is None:
        return 0
    return sum(bool(known.post_code.search(line.text)) for line in lines)


def currency(
    lines: Sequence[Line], vocabulary: Vocabulary, where: tuple[Country, Found] | None
) -> Found | None:
    """Name the currency printed most often; else that of the countries whose words derive it."""
    world = vocabulary.world
    printed = _signs(lines, world.signs)
    ranked = Counter(code for code, _ in printed).most_common(2)
    local = where[0].currency if where else None
    if ranked:
        even = [code for code, times in ranked if times == ranked[0][1]]
        code = local if local in even else even[0]
        if len(even) > 1 and code != local:
            return None  # two currencies speak equally loud
        return _at(code, printed, evidence=(PRINTED,))
    shared = [
        found
        for sign, codes in world.shared_signs.items()
        if local in codes
        for found in _signs(lines, {sign: str(local)})
    ]
    if shared:
        return _at(str(local), shared, evidence=(PRINTED, FROM_COUNTRY))
    even_ones = _most_spoken_for(lines, vocabulary) if lines else ()
    if len({each.currency for each in even_ones}) != 1:
        return None
    told = _telling(even_ones[0], lines)
    return Found(even_ones[0].currency, told.raw, told.line, told.span, (FROM_COUNTRY,))


def date_order(found: Found | None, where: Country | None, vocabulary: Vocabulary) -> DateOrder:
    """Name the order of the country; without one that of all countries with this currency.

    A currency alone says that the day comes first, as it does in most places; never the month.
    """
    if where is not None:
        return where.date_order
    code = found.value if found else None
    orders = {each.date_order for each in vocabulary.world.countries if each.currency == code}
    return DateOrder.DAY_FIRST if orders == {DateOrder.DAY_FIRST} else DateOrder.UNKNOWN


def is_whole(code: str | None, vocabulary: Vocabulary) -> bool:
    """Say whether amounts of this currency are printed without decimals."""
    return code in vocabulary.world.whole_currencies


def every_sign(vocabulary: Vocabulary) -> Mapping[str, str]:
    """Return the signs of all currencies; a shared one stands for the first that has it."""
    world = vocabulary.world
    shared = {sign: codes[0] for sign, codes in world.shared_signs.items()}
    return {**shared, **world.signs}


def _signs(lines: Sequence[Line], signs: Mapping[str, str]) -> list[tuple[str, Found]]:
    return [
        (code, Found(code, line.text[span.start : span.stop], line, span))
        for line in lines
        for code, span in money.currencies(line.text, signs)
    ]


def _at(code: str, printed: Sequence[tuple[str, Found]], *, evidence: tuple[str, ...]) -> Found:
    first = next(found for each, found in printed if each == code)
    return Found(code, first.raw, first.line, first.span, evidence)


def _telling(known: Country, lines: Sequence[Line]) -> Found:
    """Return the first line with one of the country's words; some stand over two lines."""
    for line in lines:
        match = known.post_code.search(line.text) if known.post_code else None
        if match:
            span = range(match.start(), match.end())
            return Found(known.code, match[0], line, span, (FROM_WORDS,))
        padded = f" {plain(line.text)} "
        for word in known.words:
            if f" {word} " in padded:
                return Found(known.code, word, line, range(len(line.text)), (FROM_WORDS,))
    return Found(known.code, lines[0].text, lines[0], range(len(lines[0].text)), (FROM_WORDS,))
