"""The gate to `complete`: every reason why a person should look. Pure.

Only identities between printed amounts, or a second engine, make a value certain: an engine repeats
its mistakes, so its own readings agreeing proves nothing about a total.
"""

from collections.abc import Sequence
from datetime import date

from receipt_worker.choosing import Choice
from receipt_worker.document import ReviewReason
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.identities import CASH_ROUNDING, Evidence
from receipt_worker.extraction.lines import Found
from receipt_worker.extraction.merchant import MerchantFound
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.totals import TotalFound
from receipt_worker.rounds import RoundReading, picture_of

# Pictures on which one engine must read the same date; two are enough only where it had no doubt,
# and one of an engine that is believed more than others, where no other saw any date.
AGREEING = 3
AGREEING_CLEARLY = 2
CLEAR = 80.0  # confidence of every word of the date
CLEAR_ALONE = 95.0
BELIEVED = 2
ENGINES = 2  # that agree without an identity


def total_reasons(
    readings: Sequence[RoundReading], chosen: Choice[TotalFound] | None
) -> frozenset[ReviewReason]:
    """Judge the total: proven by an identity, or read alike by two engines and printed twice."""
    if chosen is None:
        return frozenset({ReviewReason.MISSING_FIELD})
    reasons = set()
    if chosen.value.value <= 0:
        reasons.add(ReviewReason.POSSIBLE_REFUND)
    if _is_vetoed(readings, chosen):
        reasons.add(ReviewReason.IDENTITY_FAILED)
    if not is_total_certain(chosen):
        reasons.add(ReviewReason.TOTAL_UNPROVEN)
    if _is_disputed(readings, chosen):
        reasons.add(ReviewReason.PASSES_DISAGREE)
    return frozenset(reasons)


def date_reasons(
    readings: Sequence[RoundReading], chosen: Choice[DateFound] | None
) -> frozenset[ReviewReason]:
    """Judge the date: the only one, and read alike by two engines or clearly by one."""
    if chosen is None:
        return frozenset({ReviewReason.MISSING_FIELD})
    reasons = set()
    if chosen.value.ambiguous or _has_rival(readings, chosen):
        reasons.add(ReviewReason.DATE_AMBIGUOUS)
    if not is_date_agreed(readings, chosen):
        reasons.add(ReviewReason.PASSES_DISAGREE)
    return frozenset(reasons)


def other_reasons(
    merchant: Choice[MerchantFound] | None, currency: Choice[Found] | None
) -> frozenset[ReviewReason]:
    """Judge what has only to be there."""
    reasons = set()
    if merchant is None:
        reasons.add(ReviewReason.MISSING_FIELD)
    if currency is None:
        reasons.add(ReviewReason.CURRENCY_UNKNOWN)
    return frozenset(reasons)


def is_total_certain(chosen: Choice[TotalFound]) -> bool:
    """Say whether an identity holds, or two engines or a text layer read it printed twice."""
    if chosen.value.proven:
        return True
    twice = Evidence.PRINTED_TWICE in chosen.value.evidence
    return twice and (chosen.support.engines >= ENGINES or chosen.reading.given)


def is_date_agreed(readings: Sequence[RoundReading], chosen: Choice[DateFound]) -> bool:
    """Say whether enough readings gave this date: more engines, a text layer, or clear ones."""
    value = chosen.value.value
    agreeing: dict[object, float] = {}
    for place, reading in enumerate(readings):
        sure = [found.confidence for found in reading.findings.days if found.value == value]
        seen = picture_of(reading, place)  # the same picture is misread in the same way
        agreeing.update({seen: max(*sure, agreeing.get(seen, 0.0))} if sure else {})
    if chosen.support.engines >= ENGINES or chosen.reading.given:
        return True
    if chosen.support.trust >= BELIEVED and chosen.value.labelled:
        return chosen.value.confidence >= CLEAR_ALONE
    clear = sum(confidence >= CLEAR for confidence in agreeing.values())
    return clear >= AGREEING_CLEARLY or len(agreeing) >= AGREEING


def _is_vetoed(readings: Sequence[RoundReading], chosen: Choice[TotalFound]) -> bool:
    """Say whether an identity with all its parts read fails, and no reading proves the value."""
    same = [
        (reading.findings.totals, best)
        for reading in readings
        if (best := reading.findings.totals.best) is not None and best.value == chosen.value.value
    ]
    if chosen.reading.findings.totals.surpassed:
        return True
    if any(best.proven and not totals.contradicted for totals, best in same):
        return False
    return any(totals.contradicted for totals, _ in same)


def _is_disputed(readings: Sequence[RoundReading], chosen: Choice[TotalFound]) -> bool:
    """Say whether another total is proven as well, or none is and readings differ."""
    others = [
        best
        for reading in readings
        if (best := reading.findings.totals.best) is not None
        and best.value != chosen.value.value
        and not _leads_to(best, chosen.value)
    ]
    if any(best.proven or _is_more(best, chosen.value) for best in others):
        return True
    return bool(others) and not chosen.value.proven and chosen.support.engines < ENGINES


def _is_more(other: TotalFound, chosen: TotalFound) -> bool:
    """Say whether a larger total is printed than one that only its parts prove: they prove sums."""
    strong = {item for item in chosen.evidence if item.strong}
    return (
        bool(strong)
        and strong <= {Evidence.PARTS_SUM, Evidence.ITEMS_SUM}
        and other.source.role is Role.TOTAL
        and other.value > chosen.value
    )


def _leads_to(other: TotalFound, chosen: TotalFound) -> bool:
    """Say whether the other is a sum on the way to this total, or the same before its rounding.

    The rounding may be what only this reading saw.
    """
    if other.value in chosen.bases:
        return True
    apart = abs(other.value - chosen.value)
    return apart < CASH_ROUNDING and Evidence.PARTS_SUM in chosen.evidence


def _has_rival(readings: Sequence[RoundReading], chosen: Choice[DateFound]) -> bool:
    """Say whether another date is printed.

    Where two engines agree, one that two engines saw; else any that is not the same print misread.
    A date in running text is none beside one with a label.
    """
    seen: dict[date, set[str]] = {}
    for reading in readings:
        for found in reading.findings.days:
            counts = found.labelled or found is reading.findings.day or not chosen.value.labelled
            if found.value != chosen.value.value and counts:
                seen.setdefault(found.value, set()).add(reading.engine)
    if chosen.support.engines < ENGINES:
        return not all(_is_misread(value, readings, chosen) for value in seen)
    return any(len(engines) >= ENGINES for engines in seen.values())


def _is_misread(value: date, readings: Sequence[RoundReading], chosen: Choice[DateFound]) -> bool:
    """Say whether only one reading saw this date, one digit off, where another saw the chosen one.

    The chosen one must be beyond that: seen on as many pictures as make a date certain.
    """
    days = [reading.findings.days for reading in readings]
    rivals = [[found for found in each if found.value == value] for each in days]
    right = [[found for found in each if found.value == chosen.value.value] for each in days]
    pictures = {picture_of(readings[place], place) for place, each in enumerate(right) if each}
    if sum(map(bool, rivals)) > 1 or len(pictures) < AGREEING:
        return False
    return _is_one_digit_off(value, chosen.value.value) and all(
        any(_is_same_place(rival, found) for each in right for found in each)
        for each in rivals
        for rival in each
    )


def _is_one_digit_off(one: date, other: date) -> bool:
    return sum(map(str.__ne__, one.isoformat(), other.isoformat())) == 1


def _is_same_place(one: DateFound, other: DateFound) -> bool:
    if one.line.page != other.line.page:
        return False
    a, b = one.line.box_of(one.span), other.line.box_of(other.span)
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom
