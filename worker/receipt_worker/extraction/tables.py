"""The shape of the word tables, the ones that come along and the one a user mounts.

A language is one table; countries, currencies and card networks are tables of their own. Everything
is checked here, so that a wrong table is one sentence when the process starts.
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

MAX_FILE_BYTES = 1024 * 1024  # a mounted table; those that come along have 4 kB
MONTHS = 12


class Role(StrEnum):
    """What the amount on a labelled line is."""

    TOTAL = "total"
    SUBTOTAL = "subtotal"
    TAX = "tax"
    PAID = "paid"
    CHANGE = "change"
    ROUNDING = "rounding"
    DISCOUNT = "discount"
    TIP = "tip"
    NONE = "none"  # looks like one of the others and is none


class DateOrder(StrEnum):
    """Which of two small numbers is the day."""

    DAY_FIRST = "DMY"
    MONTH_FIRST = "MDY"
    UNKNOWN = ""


class Method(StrEnum):
    """How something was paid; the values are stored."""

    CASH = "cash"
    DEBIT_CARD = "debit_card"
    CREDIT_CARD = "credit_card"
    CARD = "card"
    CHEQUE = "cheque"
    VOUCHER = "voucher"
    MOBILE = "mobile"


class ReceiptType(StrEnum):
    """What kind of purchase it was; the values are stored."""

    MEAL = "meal"
    SUPPLIES = "supplies"
    FUEL = "fuel"
    HOTEL = "hotel"
    TRANSPORT = "transport"
    HEALTHCARE = "healthcare"


Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
Phrases = tuple[Phrase, ...]
Shape = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9?# ]{4,12}$")]
CountryCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
CurrencyCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DateWords(_Table):
    """Names of the twelve months, words beside the day of purchase, words beside other days."""

    months: tuple[Phrases, ...] = ()
    labels: Phrases = ()
    other: Phrases = ()

    @field_validator("months")
    @classmethod
    def _all_months(cls, months: tuple[Phrases, ...]) -> tuple[Phrases, ...]:
        if len(months) not in {0, MONTHS}:
            raise ValueError("twelve lists are wanted, from January to December")
        return months


class CardWords(_Table):
    """Words that say a line is about a card, and what else stands in front of its number."""

    words: Phrases = ()
    numbers: Phrases = ()


class MerchantWords(_Table):
    """Words that speak for and against a merchant's name."""

    legal: Phrases = ()
    address: Phrases = ()
    forms: Phrases = ()
    not_merchant: Phrases = ()
    labels: Phrases = ()
    street_endings: Phrases = ()
    other_sites: Phrases = ()


class NumberWords(_Table):
    """Labels of numbers."""

    receipt: Phrases = ()
    tax_id: Phrases = ()
    phone: Phrases = ()


class UnitWords(_Table):
    """Units of quantities."""

    names: Phrases = ()


class LanguageTable(_Table):
    """One language; `widespread` when its words stand on receipts of other languages as well.

    `lookalikes` are words one letter away from a label's that mean something else.
    """

    widespread: bool = False
    lookalikes: Phrases = ()
    roles: dict[Role, Phrases] = {}
    dates: DateWords = DateWords()
    cards: CardWords = CardWords()
    payments: dict[Method, Phrases] = {}
    numbers: NumberWords = NumberWords()
    merchant: MerchantWords = MerchantWords()
    types: dict[ReceiptType, Phrases] = {}
    units: UnitWords = UnitWords()


class CountryTable(_Table):
    """What follows from knowing the country."""

    currency: CurrencyCode
    date_order: DateOrder = DateOrder.UNKNOWN
    words: Phrases
    post_codes: tuple[Shape, ...] = ()  # ? is a letter, # a digit


class WholeCurrencies(_Table):
    """Currencies without a printed part behind a separator."""

    codes: tuple[CurrencyCode, ...] = ()


class CurrencyTable(_Table):
    """Signs of one currency, signs of several, currencies without decimals."""

    signs: dict[CurrencyCode, Phrases] = {}
    shared: dict[Phrase, tuple[CurrencyCode, ...]] = {}
    whole: WholeCurrencies = WholeCurrencies()


class UserTable(LanguageTable):
    """What a user mounts: a language's sections, and countries, currencies and networks."""

    countries: dict[CountryCode, CountryTable] = {}
    currencies: CurrencyTable = CurrencyTable()
    networks: dict[Phrase, Phrases] = {}


_COUNTRIES = TypeAdapter(dict[CountryCode, CountryTable])
_NETWORKS = TypeAdapter(dict[Phrase, Phrases])


def language(name: str) -> LanguageTable:
    """Return a language that comes along."""
    return LanguageTable.model_validate(_shipped(name))


def countries() -> Mapping[str, CountryTable]:
    """Return the countries that come along."""
    return _COUNTRIES.validate_python(_shipped("countries"))


def currencies() -> CurrencyTable:
    """Return the currencies that come along."""
    return CurrencyTable.model_validate(_shipped("currencies"))


def networks() -> Mapping[str, Phrases]:
    """Return the card networks that come along."""
    return _NETWORKS.validate_python(_shipped("networks"))


def of_user(path: Path) -> UserTable:
    """Read a mounted table; raises ValueError with one sentence that says what to change."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError:
        raise ValueError("the file cannot be read") from None
    if len(data) > MAX_FILE_BYTES:
        raise ValueError("the file is larger than 1 MiB")
    try:
        return UserTable.model_validate(tomllib.loads(data.decode("utf-8")))
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the file is not TOML: {error}") from None
    except ValidationError as error:
        raise ValueError(_sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """Name the first wrong place of a table and what is wanted there."""
    detail = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        return f"{place} is no section or key of a word table"
    said = detail["msg"].removeprefix("Value error, ")
    return f"{place}: {said[:1].lower()}{said[1:]}"


@cache
def _shipped(name: str) -> dict[str, Any]:
    text = (
        resources.files("receipt_worker.extraction")
        .joinpath(f"words/{name}.toml")
        .read_text(encoding="utf-8")
    )
    return tomllib.loads(text)
