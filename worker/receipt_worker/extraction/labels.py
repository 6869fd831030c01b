"""Amounts with the word that says what they are."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from receipt_worker.extraction import money
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.money import Amount
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.vocabulary import Vocabulary, plain, role_of, spoken

MOST_SIZES = 6  # under one role; a receipt has two or three

_FEW_LETTERS = 4  # an amount's own line may carry a currency sign and a tax letter, not a text


@dataclass(frozen=True)
class Row:
    """One line with what was understood of it; `role` is None where no label stands."""

    position: int
    line: Line
    role: Role | None
    amounts: tuple[Amount, ...]


@dataclass(frozen=True)
class Labelled:
    """One amount under one role; `alone` when no other amount competes for the label."""

    role: Role
    value: Decimal
    amount: Amount
    position: int
    line: Line
    alone: bool


def read_rows(
    lines: Sequence[Line],
    vocabulary: Vocabulary,
    *,
    find: Callable[[str], tuple[Amount, ...]] = money.amounts,
) -> tuple[Row, ...]:
    """Find role and amounts of every line; `find` is how amounts of its currency are printed."""
    words = spoken(vocabulary, [line.text for line in lines])
    return tuple(
        Row(position, line, role_of(line.text, words), find(line.text))
        for position, line in enumerate(lines)
    )


def labelled(rows: Sequence[Row]) -> tuple[Labelled, ...]:
    """Amounts with a role; a label without an amount takes the amount alone on the next line."""
    found = []
    for row in rows:
        if row.role is None or row.role is Role.NONE:
            continue
        source = row if row.amounts else _amount_row_after(rows, row)
        if source is None:
            continue
        found += [
            Labelled(
                row.role, amount.value, amount, row.position, source.line, len(source.amounts) == 1
            )
            for amount in source.amounts
        ]
    return tuple(found)


def values(found: Sequence[Labelled], role: Role) -> tuple[Decimal, ...]:
    """Distinct sizes under a role; the sign is the role's business."""
    return sizes(item for item in found if item.role is role)


def sizes(found: Iterable[Labelled]) -> tuple[Decimal, ...]:
    """Distinct sizes in the order of print, the last ones of many: sums are tried of all."""
    return tuple(dict.fromkeys(abs(item.value) for item in found))[-MOST_SIZES:]


def _amount_row_after(rows: Sequence[Row], row: Row) -> Row | None:
    if row.position + 1 >= len(rows):
        return None
    after = rows[row.position + 1]
    letters = len(plain(after.line.text).replace(" ", ""))
    alone = len(after.amounts) == 1  # more stand below the heads of their columns
    return after if after.role is None and alone and letters <= _FEW_LETTERS else None
