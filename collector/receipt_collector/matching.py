"""Is this receipt a purchase we already know of? Pure: facts in, a decision out.

Compared is only what both sides know, so a card statement without a receipt number can still be
recognised. Two sides that contradict each other are two purchases: one coffee at nine and one at
ten have the same shop, day and total.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, StrEnum, auto
from typing import NamedTuple

WEIGHTS = {
    "receipt_id": Decimal("0.30"),
    "total": Decimal("0.25"),
    "merchant": Decimal("0.15"),
    "card": Decimal("0.10"),
    "moment": Decimal("0.20"),
}
SAME_DAY_WEIGHT = Decimal("0.05")  # of the moment's, when one side prints no time

SAME_RATIO, SAME_WEIGHT = Decimal("0.80"), Decimal("0.55")
UNSURE_RATIO, UNSURE_WEIGHT = Decimal("0.60"), Decimal("0.45")
LEAD = Decimal("0.10")  # the best has to be this much better than the second

TOTAL_TOLERANCE = Decimal("0.01")
MOMENT_TOLERANCE_SECONDS = 120  # a card slip is printed a little before or after the receipt

# Characters that OCR takes for one another.
_CONFUSED = str.maketrans("OILSB", "01158")


class Facts(NamedTuple):
    """What identifies a purchase, as far as known."""

    receipt_id: str | None
    total: Decimal | None
    merchant: str | None
    card_last4: str | None
    day: date | None
    moment: datetime | None  # as printed, without a zone


class Candidate(NamedTuple):
    """A known expense and the evidence that stands for it, if any."""

    expense_pk: int
    evidence_id: int | None
    facts: Facts


class Likeness(Enum):
    """What comparing two purchases says."""

    SAME = auto()
    UNSURE = auto()
    DISTINCT = auto()


@dataclass(frozen=True)
class Comparison:
    """A comparison, its score from 0 to 1, and the names of what was equal."""

    likeness: Likeness
    score: Decimal
    reasons: tuple[str, ...] = ()


class Disposition(StrEnum):
    """What a link between two receipts says."""

    EXACT_DUPLICATE = "exact_duplicate"
    PROBABLE_DUPLICATE = "probable_duplicate"
    REVIEW = "review"


class Resolution(StrEnum):
    """Who has decided about a link."""

    PENDING = "pending"
    AUTO_LINKED = "auto_linked"


class Link(NamedTuple):
    """Two receipts that are, or may be, one purchase."""

    evidence_id: int
    other_evidence_id: int
    expense_pk: int
    score: Decimal
    disposition: Disposition
    reasons: tuple[str, ...]
    resolution: Resolution


@dataclass(frozen=True)
class Match:
    """The decision: attach to `expense_pk`, leave `unsure` to a person, or a new purchase."""

    expense_pk: int | None = None
    links: tuple[Link, ...] = ()
    unsure: bool = False


NEW_PURCHASE = Match()


def match(facts: Facts, candidates: Sequence[Candidate], *, evidence_id: int) -> Match:
    """Decide what a receipt is among the candidates with its total and day."""
    compared = [(candidate, compare(facts, candidate.facts)) for candidate in candidates]
    likely = [pair for pair in compared if pair[1].likeness is not Likeness.DISTINCT]
    if not likely:
        return NEW_PURCHASE
    likely.sort(key=lambda pair: pair[1].score, reverse=True)
    best, comparison = likely[0]
    second = likely[1][1].score if len(likely) > 1 else Decimal(0)
    if comparison.likeness is Likeness.SAME and comparison.score - second >= LEAD:
        return Match(
            best.expense_pk, _links(evidence_id, likely[:1], resolution=Resolution.AUTO_LINKED)
        )
    return Match(links=_links(evidence_id, likely, resolution=Resolution.PENDING), unsure=True)


def compare(one: Facts, other: Facts) -> Comparison:
    """Compare two purchases by what both sides know."""
    equal = _equal_signals(one, other)
    known = sum((WEIGHTS[signal] for signal, is_equal in equal.items() if is_equal is not None))
    if not known or _contradicts(equal):
        return Comparison(Likeness.DISTINCT, Decimal(0))
    reasons = tuple(signal for signal, is_equal in equal.items() if is_equal)
    weight = sum((WEIGHTS[signal] for signal in reasons), Decimal(0))
    if "moment" in reasons and not (one.moment and other.moment):
        weight += SAME_DAY_WEIGHT - WEIGHTS["moment"]
    ratio = weight / known
    return Comparison(_likeness(ratio, weight), ratio.quantize(Decimal("0.0001")), reasons)


def _likeness(ratio: Decimal, weight: Decimal) -> Likeness:
    if ratio >= SAME_RATIO and weight >= SAME_WEIGHT:
        return Likeness.SAME
    if ratio >= UNSURE_RATIO and weight >= UNSURE_WEIGHT:
        return Likeness.UNSURE
    return Likeness.DISTINCT


def _equal_signals(one: Facts, other: Facts) -> dict[str, bool | None]:
    """Tell for each signal whether both sides agree; None where one side does not know."""
    return {
        "receipt_id": _equal(_folded_id(one.receipt_id), _folded_id(other.receipt_id)),
        "total": _equal_totals(one.total, other.total),
        "merchant": _equal_merchants(one.merchant, other.merchant),
        "card": _equal(one.card_last4, other.card_last4),
        "moment": _equal_moments(one, other),
    }


def _contradicts(equal: dict[str, bool | None]) -> bool:
    """Tell whether something proves two purchases; an equal number outweighs a misread time."""
    if equal["total"] is False or equal["receipt_id"] is False:
        return True
    return equal["receipt_id"] is None and False in (equal["card"], equal["moment"])


def _equal(one: str | None, other: str | None) -> bool | None:
    return one == other if one and other else None


def _equal_totals(one: Decimal | None, other: Decimal | None) -> bool | None:
    if one is None or other is None:
        return None
    return abs(one - other) <= TOTAL_TOLERANCE


def _equal_moments(one: Facts, other: Facts) -> bool | None:
    if one.moment and other.moment:
        return abs((one.moment - other.moment).total_seconds()) <= MOMENT_TOLERANCE_SECONDS
    return one.day == other.day if one.day and other.day else None


def _equal_merchants(one: str | None, other: str | None) -> bool | None:
    """Compare by words: a branch or a legal form behind the name makes no other merchant."""
    left, right = normalised(one or ""), normalised(other or "")
    if not left or not right:
        return None
    short, long = sorted((left, right), key=len)
    return f" {short} " in f" {long} "


def _folded_id(text: str | None) -> str | None:
    return re.sub(r"[^A-Z0-9]", "", text.upper()).translate(_CONFUSED) if text else None


def normalised(name: str) -> str:
    """Return a name as its words in small letters."""
    return " ".join(re.findall(r"\w+", name.casefold()))


def resolve_merchant(name: str | None, aliases: dict[str, str]) -> str | None:
    """Return the merchant that people mean by this name: the longest alias in it decides."""
    words = f" {normalised(name or '')} "
    found = [alias for alias in aliases if normalised(alias) and f" {normalised(alias)} " in words]
    return aliases[max(found, key=len)] if found else name


def _links(
    evidence_id: int, likely: Sequence[tuple[Candidate, Comparison]], *, resolution: Resolution
) -> tuple[Link, ...]:
    return tuple(
        Link(
            evidence_id=evidence_id,
            other_evidence_id=candidate.evidence_id,
            expense_pk=candidate.expense_pk,
            score=comparison.score,
            disposition=_disposition(comparison),
            reasons=comparison.reasons,
            resolution=resolution,
        )
        for candidate, comparison in likely
        if candidate.evidence_id is not None
    )


def _disposition(comparison: Comparison) -> Disposition:
    if comparison.likeness is Likeness.UNSURE:
        return Disposition.REVIEW
    if "receipt_id" in comparison.reasons:
        return Disposition.EXACT_DUPLICATE
    return Disposition.PROBABLE_DUPLICATE
