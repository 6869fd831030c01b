"""What one reading found, as it is kept: fields with their evidence, lines, passes.

Plain frozen data. Money is Decimal here and a decimal string in JSON; boxes are left, top, width,
height in pixels of the page image.
"""

from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from enum import StrEnum

from receipt_contract.results import ExtractionStatus
from receipt_worker.extraction.lines import Box


class ReviewReason(StrEnum):
    """Why a person should look; the values are stored."""

    MISSING_FIELD = "missing_field"
    TOTAL_UNPROVEN = "total_unproven"
    IDENTITY_FAILED = "identity_failed"
    PASSES_DISAGREE = "passes_disagree"
    DATE_AMBIGUOUS = "date_ambiguous"
    CURRENCY_UNKNOWN = "currency_unknown"
    MULTIPLE_RECEIPTS = "multiple_receipts"
    LOW_TEXT = "low_text"
    ORIENTATION_UNCERTAIN = "orientation_uncertain"
    POSSIBLE_REFUND = "possible_refund"
    LIMIT_HIT = "limit_hit"
    TEXT_LAYER_UNTRUSTED = "text_layer_untrusted"
    UNREADABLE = "unreadable_ocr"


class PassStatus(StrEnum):
    """How one pass over one page ended."""

    SUCCESS = "success"
    NO_TEXT = "no_text"
    FAILED = "failed"


@dataclass(frozen=True)
class FieldRecord:
    """Where a value comes from and what speaks for it; confidence 0..1, calibrated."""

    value: str
    raw_text: str | None
    page: int | None
    box: Box | None
    pass_id: int | None
    evidence: tuple[str, ...]
    candidates: tuple[str, ...]
    confidence: Decimal = Decimal(0)


@dataclass(frozen=True)
class Place:
    """Where one entry of a list is printed."""

    raw_text: str
    page: int
    box: Box
    pass_id: int | None


@dataclass(frozen=True)
class ItemRecord:
    """One line paid for; price is that of one unit."""

    description: str
    quantity: Decimal | None
    unit_price: Decimal | None
    total: Decimal
    quantity_unit: str | None = None
    product_code: str | None = None
    tax_code: str | None = None
    place: Place | None = None


@dataclass(frozen=True)
class TaxRecord:
    """What was taxed under one rate, in percent; description is the letter or word of its row."""

    rate: Decimal | None
    net_amount: Decimal | None
    amount: Decimal
    description: str | None = None
    place: Place | None = None


@dataclass(frozen=True)
class PaymentRecord:
    """One means of payment; of a card never more than its last four digits."""

    method: str
    amount: Decimal | None
    card_network: str | None = None
    card_last4: str | None = None
    place: Place | None = None


@dataclass(frozen=True)
class Extraction:
    """The fields of a receipt; None where nothing was read. `fields` has the evidence by name."""

    status: ExtractionStatus
    review_reasons: tuple[ReviewReason, ...]
    confidence: Decimal  # 0..1
    merchant_name: str | None = None
    merchant_address: str | None = None
    merchant_phone_number: str | None = None
    merchant_tax_id: str | None = None
    transaction_date: date | None = None
    transaction_time: time | None = None
    receipt_number: str | None = None
    currency: str | None = None
    total: Decimal | None = None
    subtotal: Decimal | None = None
    total_tax: Decimal | None = None
    tip: Decimal | None = None
    rounding: Decimal | None = None
    discount_total: Decimal | None = None
    change: Decimal | None = None
    card_last4: str | None = None
    payment_method: str | None = None
    receipt_type: str | None = None
    country_region: str | None = None
    tax_details: tuple[TaxRecord, ...] = ()
    payments: tuple[PaymentRecord, ...] = ()
    items: tuple[ItemRecord, ...] = ()
    fields: dict[str, FieldRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class LineRecord:
    """One printed row; confidence 0..100."""

    line_number: int
    text: str
    confidence: float
    box: Box
    line_type: str


@dataclass(frozen=True)
class PageRecord:
    """One page with the lines of the selected reading; width in pixels of the page image."""

    page_number: int
    width: int
    lines: tuple[LineRecord, ...]


@dataclass(frozen=True)
class PassRecord:
    """One engine on one variant of one page, with its own text; seconds of wall time."""

    pass_id: int
    engine: str
    engine_type: str
    variant: str
    status: PassStatus
    psm: int | None
    page_number: int
    dpi: int | None
    line_count: int
    character_count: int
    confident_mass: float
    valid_timestamp: bool
    selected_base: bool
    seconds: float
    text: str
    error_type: str | None = None
    languages: str | None = None


@dataclass(frozen=True)
class Reading:
    """Everything one OCR of one file gave."""

    extraction: Extraction
    pages: tuple[PageRecord, ...]
    passes: tuple[PassRecord, ...]
    timings: dict[str, float]

    @property
    def text(self) -> str:
        """The selected text, pages joined."""
        return "\n".join(line.text for page in self.pages for line in page.lines)
