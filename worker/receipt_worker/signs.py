"""Reasons for review that lie in the pages, not in the fields. Pure."""

from collections.abc import Sequence

from receipt_worker import multiple, orientation
from receipt_worker.document import ReviewReason
from receipt_worker.extraction import receipt
from receipt_worker.extraction.dates import has_date
from receipt_worker.extraction.lines import CONFIDENT, Word
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.passes import FirstLook, PageOutcome

LEAST_WORDS = 4  # confident words of two letters below which nothing was read
LOW_TEXT_SHARE = 0.25  # readable share under which the text is mostly guessed


def of_pages(
    looks: Sequence[FirstLook], vocabulary: Vocabulary, assumptions: Assumptions
) -> frozenset[ReviewReason]:
    """Tell what the first look at every page shows."""
    signs = set()
    if not all(look.certain for look in looks):
        signs.add(ReviewReason.ORIENTATION_UNCERTAIN)
    if any(look.sheet.layer_refused for look in looks):
        signs.add(ReviewReason.TEXT_LAYER_UNTRUSTED)
    if _are_multiple([look.outcome for look in looks], vocabulary, assumptions):
        signs.add(ReviewReason.MULTIPLE_RECEIPTS)
    return frozenset(signs)


def of_text(rounds: Sequence[Sequence[PageOutcome]]) -> frozenset[ReviewReason]:
    """Tell whether a page had too much on it, or too little, by the reading that read most."""
    readings = [[word for outcome in outcomes for word in outcome.words] for outcomes in rounds]
    if max(sum(map(_is_read, words)) for words in readings) < LEAST_WORDS:
        return frozenset({ReviewReason.UNREADABLE})
    signs = set()
    if max(map(orientation.readable_share, readings)) < LOW_TEXT_SHARE:
        signs.add(ReviewReason.LOW_TEXT)
    if any(outcome.cut for outcomes in rounds for outcome in outcomes):
        signs.add(ReviewReason.LIMIT_HIT)
    return frozenset(signs)


def _is_read(word: Word) -> bool:
    return word.confidence >= CONFIDENT and sum(mark.isalnum() for mark in word.text) > 1


def _are_multiple(
    outcomes: Sequence[PageOutcome], vocabulary: Vocabulary, assumptions: Assumptions
) -> bool:
    if any(multiple.two_columns(outcome.words, vocabulary) for outcome in outcomes):
        return True
    # Only a page with a date can be a receipt of its own; to read one costs most of a text layer.
    dated = [one.lines for one in outcomes if any(has_date(line.text) for line in one.lines)]
    if len(dated) <= 1:
        return False
    return multiple.two_pages([receipt.read(lines, vocabulary, assumptions) for lines in dated])
