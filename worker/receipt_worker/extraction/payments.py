"""How a receipt was paid: one payment for each printed line that says so. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from receipt_worker.extraction import last_digits
from receipt_worker.extraction.labels import Labelled, Row
from receipt_worker.extraction.last_digits import LastDigits
from receipt_worker.extraction.lines import Line
from receipt_worker.extraction.tables import Method, Role
from receipt_worker.extraction.vocabulary import Vocabulary, plain

MOST_PAYMENTS = 6
_CARDS = {Method.CARD, Method.DEBIT_CARD, Method.CREDIT_CARD}


@dataclass(frozen=True)
class Payment:
    """One means of payment, with the last four digits of its card where they are printed."""

    method: Method
    amount: Decimal | None
    network: str | None
    last4: str | None
    line: Line


def payments(
    rows: Sequence[Row], found: Sequence[Labelled], vocabulary: Vocabulary
) -> tuple[Payment, ...]:
    """Find the payments; a card slip repeats its amount and counts once."""
    paid: dict[tuple[Method, Decimal | None], Payment] = {}
    printed = last_digits.printed([row.line for row in rows], vocabulary)
    digits = printed.digits if printed else None
    network = _network_of_all(rows, vocabulary)
    for item in found:
        if item.role is not Role.PAID or not item.alone:
            continue
        method = _method(item.line.text, vocabulary) or _method(
            rows[item.position].line.text, vocabulary
        )
        if method is None:
            continue
        by_card = method in _CARDS
        payment = Payment(
            method,
            abs(item.value),
            network if by_card else None,
            digits if by_card else None,
            item.line,
        )
        paid.setdefault((_kind(method), payment.amount), payment)
    if not paid:
        return _unpriced(rows, printed, network, vocabulary)
    return tuple(paid.values())[:MOST_PAYMENTS]


def _unpriced(
    rows: Sequence[Row],
    printed: LastDigits | None,
    network: str | None,
    vocabulary: Vocabulary,
) -> tuple[Payment, ...]:
    """Return the means alone, where a paying line has no amount or the card names itself."""
    for row in rows:
        method = _method(row.line.text, vocabulary) if row.role is Role.PAID else None
        if method is not None:
            by_card = method in _CARDS
            return (
                Payment(
                    method,
                    None,
                    network if by_card else None,
                    printed.digits if printed and by_card else None,
                    row.line,
                ),
            )
    if printed is None:
        return ()
    return (Payment(Method.CARD, None, network, printed.digits, printed.line),)


def _kind(method: Method) -> Method:
    return Method.CARD if method in _CARDS else method


def _method(text: str, vocabulary: Vocabulary) -> Method | None:
    padded = f" {plain(text)} "
    for phrase, method in vocabulary.methods:
        if f" {phrase} " in padded:
            return method
    return Method.CARD if _network(padded, vocabulary) else None


def _network(padded: str, vocabulary: Vocabulary) -> str | None:
    return next(
        (name for phrase, name in vocabulary.world.networks if f" {phrase} " in padded), None
    )


def _network_of_all(rows: Sequence[Row], vocabulary: Vocabulary) -> str | None:
    """Name the only network on the receipt; a row of logos names none."""
    named = {
        name
        for row in rows
        if (name := _network(f" {plain(row.line.text)} ", vocabulary)) is not None
    }
    return named.pop() if len(named) == 1 else None
