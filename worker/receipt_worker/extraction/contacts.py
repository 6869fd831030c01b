"""How the merchant is reached and registered: address, telephone, tax number. Pure."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.vocabulary import REMEMBERED_LINES, Vocabulary, has_word, plain

ADDRESS_LINES = 5
HEAD_LINES = 14
LEAST_TAX_ID, LEAST_PHONE, MOST_PHONE = 8, 7, 15

_TAX_ID = re.compile(
    r"(?<![\w])(?=(?:[\s\-./]?\w){8,})"
    r"[A-Z]{0,3}[\s\-]?\d[\dA-Z]*(?:[ \-./]?[\dA-Z]{2,}){0,5}",
    re.IGNORECASE,
)
_VAT_ID = re.compile(
    r"(?<!\w)(?:DE\s?\d{9}|ATU\s?\d{8}|FR\s?[A-Z\d]{2}\s?\d{9}|NL\s?\d{9}\s?B\s?\d{2}|"
    r"BE\s?0\d{9}|IT\s?\d{11}|PT\s?\d{9}|ES\s?[A-Z]\d{7}[A-Z\d]|GB\s?\d{9}|"
    r"CHE[\-\s]?\d{3}\.?\d{3}\.?\d{3})(?!\w)"
)
_PHONE = re.compile(r"[+(]?\d[\d()/\-. ]{5,20}\d")
_REGISTRATION = re.compile(
    r"\W*(?:(?:co|company|roc|br|gst|reg)[^\d]{0,20})?\W*\d{5,12}\s?-?\s?[A-Z]?\W*$", re.IGNORECASE
)
_POST_CODE = re.compile(r"(?<!\d)\d{4,6}(?!\d)|(?<!\w)[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?!\w)")


def tax_id(lines: Sequence[Line], vocabulary: Vocabulary) -> Found | None:
    """Find the number behind a tax label, else one in the form of a European one."""
    for line in lines:
        text = line.text
        at = _behind_label(text, vocabulary.tax_id_labels)
        if at is None:
            continue
        for match in _TAX_ID.finditer(text, at):
            if sum(mark.isdigit() for mark in match[0]) >= LEAST_TAX_ID - 1:
                return _found(line, match, ("labelled",))
    for line in lines:
        formed = _VAT_ID.search(line.text)
        if formed:
            return _found(line, formed, ("form",))
    return None


def phone(lines: Sequence[Line], vocabulary: Vocabulary) -> Found | None:
    """Find the number behind a telephone label; a number alone may be anything."""
    for line in lines:
        at = _behind_label(line.text, vocabulary.phone_labels)
        match = _PHONE.search(line.text, at) if at is not None else None
        if match and LEAST_PHONE <= sum(mark.isdigit() for mark in match[0]) <= MOST_PHONE:
            return _found(line, match, ("labelled",))
    return None


def address(lines: Sequence[Line], name_line: Line | None, vocabulary: Vocabulary) -> Found | None:
    """Join the lines below the merchant's that read like an address, up to what else begins."""
    start = name_line.number if name_line is not None else 0
    head = [line for line in lines if line.number > start][:HEAD_LINES]
    taken: list[Line] = []
    for line in head:
        if _REGISTRATION.match(line.text):
            continue
        if _ends_address(line, vocabulary):
            if taken:
                break
            continue
        taken.append(line)
        if len(taken) == ADDRESS_LINES:
            break
    if not any(_reads_like_address(line, vocabulary) for line in taken):
        return None
    while taken and not _reads_like_address(taken[-1], vocabulary):
        taken.pop()
    text = ", ".join(line.text.strip(" ,.;:") for line in taken)
    return Found(text, " ".join(line.text for line in taken), taken[0], range(len(taken[0].text)))


def is_street(text: str, vocabulary: Vocabulary) -> bool:
    """Say whether a street's word stands beside a house number."""
    words = plain(text).split()
    return any(mark.isdigit() for mark in text) and any(
        word.endswith(vocabulary.street_endings) or word in vocabulary.address_words
        for word in words
    )


def _reads_like_address(line: Line, vocabulary: Vocabulary) -> bool:
    return bool(_POST_CODE.search(line.text)) or is_street(line.text, vocabulary)


def _ends_address(line: Line, vocabulary: Vocabulary) -> bool:
    labels = (*vocabulary.phone_labels, *vocabulary.tax_id_labels, *vocabulary.date_labels)
    return (
        has_word(line.text, labels)
        or bool(money.amounts(line.text))
        or sum(mark.isalnum() for mark in line.text) < len("A 1 b")
        or "www" in line.text.casefold()
        or "@" in line.text
    )


def _behind_label(text: str, labels: tuple[str, ...]) -> int | None:
    """Return the place behind the first label as printed, None without one."""
    if not has_word(text, labels):
        return None
    for label in labels:
        pattern = r"[\W\d_]*".join(re.escape(word) for word in label.split())
        match = re.search(rf"(?<![^\W\d_]){pattern}(?![^\W\d_])", plain_same_length(text))
        if match:
            return match.end()
    return None


@lru_cache(maxsize=REMEMBERED_LINES)
def plain_same_length(text: str) -> str:
    """Lower-case letters without accents, one for one, so that places stay."""
    return "".join(_plain_mark(mark) for mark in text)


@cache
def _plain_mark(mark: str) -> str:
    letters = plain(mark)
    return letters if len(letters) == 1 else mark.casefold()[:1] or mark


def _found(line: Line, match: re.Match[str], evidence: tuple[str, ...]) -> Found:
    value = " ".join(match[0].split()).strip(" .-/")
    return Found(value, match[0].strip(), line, range(match.start(), match.end()), evidence)
