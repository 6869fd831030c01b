"""Signs that a file holds more than one receipt. Pure."""

from collections.abc import Sequence

from receipt_worker.extraction import labels
from receipt_worker.extraction.lines import Line, Word, rows
from receipt_worker.extraction.receipt import Findings
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.vocabulary import Vocabulary

GAP_SHARE = 0.04  # of the page's ink width that must stay white between two receipts
LEAST_WORDS = 15  # a side with fewer words is no receipt
_BINS = 200
_SUMS = {Role.TOTAL, Role.SUBTOTAL, Role.PAID, Role.CHANGE, Role.TAX}


def two_columns(words: Sequence[Word], vocabulary: Vocabulary) -> bool:
    """Two receipts side by side: a white column with sums on either side of it."""
    split = _white_column(words)
    if split is None:
        return False
    left = [word for word in words if word.box.right <= split]
    right = [word for word in words if word.box.x >= split]
    return all(
        len(side) >= LEAST_WORDS and _has_sums(rows(side, page=1), vocabulary)
        for side in (left, right)
    )


def two_pages(findings: Sequence[Findings]) -> bool:
    """Two pages that are each a receipt: other totals under other merchants or other dates."""
    whole = [page for page in findings if page.totals.best is not None and page.day is not None]
    for number, one in enumerate(whole):
        for other in whole[number + 1 :]:
            if _differ(one, other):
                return True
    return False


def _differ(one: Findings, other: Findings) -> bool:
    if one.totals.best is None or other.totals.best is None or not one.day or not other.day:
        return False
    if one.totals.best.value == other.totals.best.value:
        return False
    names = {page.merchant.name.casefold() for page in (one, other) if page.merchant}
    return one.day.value != other.day.value or len(names) > 1


def _has_sums(lines: Sequence[Line], vocabulary: Vocabulary) -> bool:
    """Say whether a label and its amount stand here; in one receipt they stand apart."""
    rows_here = labels.read_rows(lines, vocabulary)
    return any(row.amounts and row.role in _SUMS for row in rows_here)


def _white_column(words: Sequence[Word]) -> int | None:
    """Middle of the widest inner column that no word touches, when it is wide enough."""
    if len(words) < 2 * LEAST_WORDS:
        return None
    left = min(word.box.x for word in words)
    right = max(word.box.right for word in words)
    width = max(1, right - left)
    touched = [0] * (_BINS + 1)
    for word in words:
        first = _BINS * (word.box.x - left) // width
        last = _BINS * (word.box.right - left) // width
        for place in range(first, last + 1):
            touched[place] += 1
    # A stray rule or speck may cross the column.
    allowed = len(words) // 100
    start, length, here = 0, 0, 0
    for place in range(_BINS // 5, _BINS - _BINS // 5):
        here = here + 1 if touched[place] <= allowed else 0
        if here > length:
            start, length = place - here + 1, here
    if length < GAP_SHARE * _BINS:
        return None
    return left + width * (2 * start + length) // (2 * _BINS)
