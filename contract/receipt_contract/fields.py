"""What a receipt says, field by field with evidence: the body of result schema 2.

Money, quantities and rates are decimal strings, dates ISO 8601; a field that was not read is null.
Everything is bounded, so that no receipt can make an event that is too large to send.
"""

import re
from datetime import time
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationInfo

from receipt_contract.wire import Count, IsoDate, Positive, Share

# Context of a validation whose numbers came out of JSON.
FROM_WIRE = {"from": "wire"}

MOST_CHARACTERS = 200  # of a value or of the print it was read from
MOST_LINE_CHARACTERS = 1000
MOST_LABEL_CHARACTERS = 60
MOST_CANDIDATES = 10
MOST_EVIDENCE = 10
MOST_ITEMS = 500
MOST_ROWS = 20  # of taxes, of payments
MOST_REASONS = 50

_MONEY = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,4})?")  # what the database's column holds
_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,6})?")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")


def _money(value: object, info: ValidationInfo) -> Decimal:
    return _decimal(value, _MONEY, info)


def _number(value: object, info: ValidationInfo) -> Decimal:
    return _decimal(value, _NUMBER, info)


def _decimal(value: object, pattern: re.Pattern[str], info: ValidationInfo) -> Decimal:
    """Read a decimal string; from our own code, a Decimal. A JSON number is none of both."""
    is_ours = isinstance(value, Decimal) and info.context is not FROM_WIRE
    text = format(value, "f") if is_ours and isinstance(value, Decimal) else value
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise ValueError("a decimal string of a sensible size is wanted")
    return Decimal(text)


def _time(value: object) -> time:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return time.fromisoformat(value)
    if not isinstance(value, time) or value.tzinfo is not None:  # receipts name no zone
        raise ValueError("an ISO 8601 time without a zone is wanted")
    return value.replace(microsecond=0)


def _plain(value: Decimal) -> str:
    return format(value, "f")


Money = Annotated[Decimal, BeforeValidator(_money), PlainSerializer(_plain)]
Quantity = Annotated[Decimal, BeforeValidator(_number), PlainSerializer(_plain)]
Percent = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=100), PlainSerializer(_plain)]
PrintedTime = Annotated[time, BeforeValidator(_time), PlainSerializer(time.isoformat)]
Words = Annotated[str, Field(strict=True, min_length=1, max_length=MOST_CHARACTERS)]
LineText = Annotated[str, Field(strict=True, max_length=MOST_LINE_CHARACTERS)]
Label = Annotated[str, Field(strict=True, min_length=1, max_length=MOST_LABEL_CHARACTERS)]
Code = Annotated[str, Field(strict=True, pattern=r"^[a-z0-9][a-z0-9_.\-]{0,49}$")]
Currency = Annotated[str, Field(strict=True, pattern=r"^[A-Z]{3}$")]
Country = Annotated[str, Field(strict=True, pattern=r"^[A-Z]{2}$")]
Last4 = Annotated[str, Field(strict=True, pattern=r"^[0-9]{4}$")]

Value = TypeVar("Value")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Box(_Part):
    """A place on a page: pixels of its image, points of a text layer; the origin is top left."""

    x: Annotated[int, Field(strict=True)]
    y: Annotated[int, Field(strict=True)]
    width: Count
    height: Count


class Origin(_Part):
    """Where something was read and what speaks for it.

    `raw_text` is the print as it was read, null for a value derived from others; `confidence` is
    the share of such values that are right; `evidence` names identities and derivations.
    """

    raw_text: Words | None = None
    page: Positive | None = None
    box: Box | None = None
    pass_id: Positive | None = None
    confidence: Share | None = None
    evidence: Annotated[tuple[Label, ...], Field(max_length=MOST_EVIDENCE)] = ()


class Found(Origin, Generic[Value]):
    """A value, and the other values that were read for the same field, likeliest first."""

    value: Value
    candidates: Annotated[tuple[Value, ...], Field(max_length=MOST_CANDIDATES)] = ()


class TaxDetail(Origin):
    """One rate of the tax table; `rate` in per cent."""

    rate: Percent | None = None
    net_amount: Money | None = None
    amount: Money | None = None
    description: Words | None = None


class Payment(Origin):
    """One way in which it was paid."""

    method: Label | None = None
    amount: Money | None = None
    card_network: Label | None = None
    card_last4: Last4 | None = None


class Item(Origin):
    """One line a customer paid for; `price` is that of one unit.

    `quantity_unit` is the unit of what was measured, null where pieces were counted.
    """

    description: Words
    quantity: Quantity | None = None
    quantity_unit: Label | None = None
    price: Money | None = None
    total_price: Money | None = None
    product_code: Label | None = None
    tax_code: Label | None = None


class ReceiptFields(_Part):
    """Every field of a receipt; null where nothing was read."""

    merchant_name: Found[Words] | None = None
    merchant_address: Found[Words] | None = None
    merchant_phone_number: Found[Words] | None = None
    merchant_tax_id: Found[Words] | None = None
    transaction_date: Found[IsoDate] | None = None
    transaction_time: Found[PrintedTime] | None = None
    receipt_number: Found[Words] | None = None
    receipt_type: Found[Code] | None = None
    country_region: Found[Country] | None = None
    currency: Found[Currency] | None = None
    subtotal: Found[Money] | None = None
    total_tax: Found[Money] | None = None
    tip: Found[Money] | None = None
    rounding: Found[Money] | None = None
    discount_total: Found[Money] | None = None
    total: Found[Money] | None = None
    change: Found[Money] | None = None
    tax_details: Annotated[tuple[TaxDetail, ...], Field(max_length=MOST_ROWS)] = ()
    payments: Annotated[tuple[Payment, ...], Field(max_length=MOST_ROWS)] = ()
    items: Annotated[tuple[Item, ...], Field(max_length=MOST_ITEMS)] = ()

    @property
    def found(self) -> dict[str, Found[Any]]:
        """The single fields that were read, by name."""
        read = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in read.items() if isinstance(value, Found)}


class PrintedLine(_Part):
    """One printed row; `confidence` is the engine's."""

    line_number: Positive
    text: LineText
    confidence: Share | None
    box: Box
    indent_level: Annotated[int, Field(strict=True)]
    line_type: Code


class PrintedPage(_Part):
    """One page with the rows of the selected reading; widths in the unit of its boxes.

    What is printed begins at `printed_left` and is `printed_width` wide.
    """

    page_number: Positive
    width: Count
    printed_left: Annotated[int, Field(strict=True)]
    printed_width: Count
    lines: tuple[PrintedLine, ...]


class LeftOut(_Part):
    """How much the limits of an event left out; the artifact has all of it."""

    lines: Count = 0
    items: Count = 0
