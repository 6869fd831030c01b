"""The chosen values as they are kept: each with its place, its evidence and its confidence. Pure.

Scores order evidence; how often a score was right is measured (`calibration`).
"""

from collections.abc import Iterable, Mapping

from receipt_worker import calibration
from receipt_worker.choosing import Choice
from receipt_worker.document import FieldRecord, ItemRecord, PaymentRecord, Place, TaxRecord
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.lines import Found, Line
from receipt_worker.extraction.merchant import FORM_POINTS, MerchantFound
from receipt_worker.extraction.totals import TotalFound
from receipt_worker.rounds import RoundReading, Support

CLEAR = 90.0  # engine confidence from which a word counts as read without doubt
MOST_CANDIDATES = 10

ENGINES_AGREE = "engines_agree"
TEXT_LAYER = "text_layer"
LABELLED = "labelled"


def total(choice: Choice[TotalFound]) -> FieldRecord:
    """Keep the total with the identities that hold."""
    found = choice.value
    span = range(found.source.amount.start, found.source.amount.end)
    return _record(
        Found(str(found.value), found.source.amount.raw, found.source.line, span),
        choice.reading,
        score=total_score(choice),
        evidence=(*sorted(found.evidence), *_agreement(choice.support, choice.reading)),
        candidates=(str(each.value) for each in choice.reading.findings.totals.candidates),
        name="total",
    )


def day(choice: Choice[DateFound]) -> FieldRecord:
    """Keep the date with the other dates that were seen."""
    found = choice.value
    return _record(
        Found(found.value.isoformat(), found.raw, found.line, found.span),
        choice.reading,
        score=day_score(choice),
        evidence=(
            *((LABELLED,) if found.labelled else ()),
            *_agreement(choice.support, choice.reading),
        ),
        candidates=(each.value.isoformat() for each in choice.reading.findings.days),
        name="transaction_date",
    )


def merchant(choice: Choice[MerchantFound]) -> FieldRecord:
    """Keep the merchant with the names that other lines gave."""
    found = choice.value
    span = range(len(found.line.text))
    return _record(
        Found(found.name, found.line.text, found.line, span),
        choice.reading,
        score=merchant_score(choice),
        evidence=_agreement(choice.support, choice.reading),
        candidates=(found.name,),
        name="merchant_name",
    )


def other(choice: Choice[Found], name: str) -> FieldRecord:
    """Keep any other field."""
    found = choice.value
    return _record(
        found,
        choice.reading,
        score=other_score(choice),
        evidence=(*found.evidence, *_agreement(choice.support, choice.reading)),
        candidates=(found.value,),
        name=name,
    )


def total_score(choice: Choice[TotalFound]) -> int:
    """Order totals by how much speaks for them: identities, engines, nobody against."""
    strong = sum(item.strong for item in choice.value.evidence)
    contradicted = choice.reading.findings.totals.contradicted
    return (
        3 * min(strong, 2)
        + 2 * (choice.support.engines - 1)
        + bool(choice.value.evidence)
        - (choice.dissent > 0)
        - 2 * contradicted
    )


def day_score(choice: Choice[DateFound]) -> int:
    """Order dates: engines that agree, words read clearly, a label, nobody against."""
    return (
        3 * (choice.support.engines - 1)
        + min(choice.support.readings, 3)
        + (choice.value.confidence >= CLEAR)
        + choice.value.labelled
        - 2 * (choice.dissent > 0)
        - 2 * choice.value.ambiguous
    )


def merchant_score(choice: Choice[MerchantFound]) -> int:
    """Order names: engines that agree, the engine's rank, a legal form in it."""
    return (
        2 * (choice.support.engines - 1)
        + choice.support.trust
        + (choice.value.score >= FORM_POINTS)
        + (choice.value.line.confidence >= CLEAR)
    )


def other_score(choice: Choice[Found]) -> int:
    """Order other values: engines that agree, words read clearly, nobody against."""
    clear = choice.value.line.confidence_of(choice.value.span) >= CLEAR
    return 2 * (choice.support.engines - 1) + clear - (choice.dissent > 0)


def items(reading: RoundReading) -> tuple[ItemRecord, ...]:
    """Keep the items of one reading."""
    return tuple(
        ItemRecord(
            description=item.description,
            quantity=item.quantity,
            unit_price=item.unit_price,
            total=item.total,
            quantity_unit=item.quantity_unit,
            product_code=item.product_code,
            tax_code=item.tax_code,
            place=_place(item.line, reading),
        )
        for item in reading.findings.items
    )


def taxes(reading: RoundReading) -> tuple[TaxRecord, ...]:
    """Keep the rows of the tax table that adds up to the total."""
    return tuple(
        TaxRecord(
            rate=row.rate,
            net_amount=row.net,
            amount=row.tax,
            description=row.code,
            place=_place(row.line, reading),
        )
        for row in reading.findings.totals.tax_rows
    )


def payments(reading: RoundReading, last4: str | None) -> tuple[PaymentRecord, ...]:
    """Keep the payments; of a card only digits that all readings agree on."""
    return tuple(
        PaymentRecord(
            method=item.method,
            amount=item.amount,
            card_network=item.network,
            card_last4=last4 if item.last4 else None,
            place=_place(item.line, reading),
        )
        for item in reading.findings.payments
    )


def named(choices: Mapping[str, Choice[Found] | None]) -> dict[str, FieldRecord]:
    """Keep all fields that were found."""
    return {name: other(choice, name) for name, choice in choices.items() if choice is not None}


def _record(  # noqa: PLR0913 - a record has this many parts
    found: Found,
    reading: RoundReading,
    *,
    name: str,
    score: int,
    evidence: tuple[str, ...],
    candidates: Iterable[str],
) -> FieldRecord:
    return FieldRecord(
        value=found.value,
        raw_text=found.raw,
        page=found.line.page,
        box=found.line.box_of(found.span),
        pass_id=reading.pass_of(found.line.page),
        evidence=evidence,
        candidates=tuple(dict.fromkeys(candidates))[:MOST_CANDIDATES],
        confidence=calibration.confidence(name, score),
    )


def _agreement(support: Support, reading: RoundReading) -> tuple[str, ...]:
    if reading.given:
        return (TEXT_LAYER,)
    return (ENGINES_AGREE,) if support.engines > 1 else ()


def _place(line: Line, reading: RoundReading) -> Place:
    return Place(line.text, line.page, line.box, reading.pass_of(line.page))
