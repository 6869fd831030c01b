"""JSON as our messages use it: exact numbers, no repeated keys, canonical text.

Money crosses the wire as an exact JSON number and never becomes a float.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

import simplejson
from pydantic import BeforeValidator, Field, PlainSerializer

MOST_DIGITS = 100  # before or behind the point


def dumps(document: Any) -> bytes:
    """Write canonical JSON: keys sorted, no white space, non-ASCII escaped, Decimal exact."""
    return simplejson.dumps(
        document, sort_keys=True, separators=(",", ":"), use_decimal=True, allow_nan=False
    ).encode("ascii")


def loads(body: bytes) -> Any:
    """Read JSON with fractions as Decimal; raises ValueError, also for NaN and repeated keys."""
    try:
        return simplejson.loads(
            body.decode("utf-8"),
            use_decimal=True,
            allow_nan=False,
            object_pairs_hook=_without_repeats,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key is repeated, of which two readers could see different values")
    return fields


def _number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("a JSON number is wanted")  # noqa: TRY004 - pydantic reads ValueError
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError("a finite number is wanted")
    if abs(number.adjusted()) > MOST_DIGITS:  # no column holds it, and arithmetic overflows
        raise ValueError("a number of a sensible size is wanted")
    return number


def _date(value: object) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value)
    if not isinstance(value, date):  # pydantic would read a number as seconds
        raise ValueError("an ISO 8601 date is wanted")  # noqa: TRY004 - pydantic reads ValueError
    return value


def _moment(value: object) -> datetime:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    if not isinstance(value, datetime):  # pydantic would read a number as seconds
        raise ValueError("an ISO 8601 time is wanted")  # noqa: TRY004 - pydantic reads ValueError
    return value


def _zoned(value: object) -> datetime:
    moment = _moment(value)
    if moment.tzinfo is None:
        raise ValueError("an ISO 8601 time with its zone is wanted")
    return moment


Number = Annotated[Decimal, BeforeValidator(_number)]
Amount = Annotated[Decimal, BeforeValidator(_number), Field(ge=0)]
Share = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=1)]
Count = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True)]
FilledText = Annotated[str, Field(strict=True, min_length=1)]
IsoDate = Annotated[date, BeforeValidator(_date), PlainSerializer(date.isoformat)]
IsoMoment = Annotated[datetime, BeforeValidator(_moment), PlainSerializer(datetime.isoformat)]
ZonedMoment = Annotated[datetime, BeforeValidator(_zoned), PlainSerializer(datetime.isoformat)]
