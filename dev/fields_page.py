"""Renders `docs/fields.md`: every field, condition, reason and column of the two kinds.

Types, limits and meanings come from the generated definitions, so the page says what the API server
checks. `dev.advice` has what people do about a reason; here stand only examples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dev import advice
from receipt_contract import crd
from receipt_contract.errors import FailureClass, Reason
from receipt_contract.requests import MAX_INT, Kind
from receipt_contract.status import ConditionReason, ConditionType
from receipt_operator.conditions import FINAL_STATES, SUCCESSES

PATH = Path("docs/fields.md")

# One value for each field of a spec that holds no further fields, as in YAML.
EXAMPLES: Mapping[str, str] = {
    "target.reference": "2024-05/station-cafe.jpg",
    "target.references": "[2024-04/bakery.pdf, 2024-05/station-cafe.jpg]",
    "target.selector.pathPrefix": "2024-04/",
    "target.selector.glob": "'2024-*/**/*.pdf'",
    "target.selector.cache": "Missing",
    "target.selector.cacheVersionBelow": "3",
    "target.selector.extractionStatus": "[review, unreadable]",
    "target.selector.processedBefore": "2026-05-01T00:00:00Z",
    "target.selector.transactionDate.from": "2024-01-01",
    "target.selector.transactionDate.to": "2024-12-31",
    "target.retryFailedOf": "engine-5.4",
    "runId": "engine-5.5",
    "suspend": "true",
    "cancel": "true",
    "priority": "High",
    "maxInFlight": "20",
    "startBefore": "2026-06-01T06:00:00+02:00",
    "activeDeadlineSeconds": "7200",
    "failureThresholdPercent": "20",
    "ttlSecondsAfterFinished": "604800",
    "dryRun": "true",
    "rerunPolicy": "OnRecreate",
    "maxItems": "5000",
}

_HEAD = """# Fields

Generated from the models; do not edit: make generate

Both kinds, `ReceiptReprocess` (`rrp`) and `CacheRebuild` (`crb`), have the same fields.
[Asking for work](requests.md) tells what they do, [how to](how-to.md) what to type.
`kubectl explain rrp.spec --recursive` shows the same on the command line.
"""
_SPEC_HEAD = """## spec

`target` is all that is needed. No field has a default: an absent one takes the operator's value,
which `status.effective` shows. A field that is *fixed* belongs to the request; the API server takes
another value only together with another `runId`.
"""
_STATUS_HEAD = """## status

Written by the operator alone, at most 4 KiB. Counts are computed anew from the database each time.
"""
_CONDITIONS_HEAD = """## Conditions

Each is about the generation in its `observedGeneration`; `lastTransitionTime` moves only together
with `status`.
"""
_WAY_HEAD = """## Reasons while it is on its way
"""
_ENDS_HEAD = """## How a request ends

The reason of `Succeeded` and `Finished`, and `Stalled` where it ended badly.
"""
_RECEIPTS_HEAD = """## Why a receipt failed or was skipped

In `status.failures`, and for every receipt in `ledger requests show REQUEST_ID`.
"""
_COLUMNS_HEAD = """## Columns

`kubectl get rrp,crb` shows the first ones, `-o wide` all. `--field-selector status.state=Running`
and `--field-selector spec.priority=High` choose rows.
"""

# What may become of a value while its request goes on, where more is to say than "may change".
_CHANGES = {
    "runId": "another value is another request",
    "cancel": "only from false to true",
    "startBefore": "judged once, when first seen",
}
_FIXED_NOTE = " Fixed within a runId."
_NAMES = {
    "string": "text",
    "integer": "number",
    "boolean": "true or false",
    "date": "day",
    "date-time": "moment with its zone",
}
# What a receipt never fails with: these are about messages and services.
_NOT_SHOWN = {FailureClass.MESSAGE, FailureClass.OUTAGE}


class Field(NamedTuple):
    """A field: the path at which people write it, and its schema."""

    path: str
    schema: Mapping[str, Any]


def render() -> str:
    """Return the page. Raises ValueError where an example or an advice is missing."""
    _check_advice()
    version = crd.render(Kind.RECEIPT_REPROCESS)["spec"]["versions"][0]
    properties = version["schema"]["openAPIV3Schema"]["properties"]
    return "\n".join(
        [
            _HEAD,
            _SPEC_HEAD,
            *_spec(properties["spec"]),
            _STATUS_HEAD,
            *_status(properties["status"]),
            _CONDITIONS_HEAD,
            *_table(
                ("condition", "says", "`True`", "`False`", "`Unknown`"),
                map(_condition_row, ConditionType),
            ),
            _WAY_HEAD,
            *_table(
                ("reason", "means", "what to do"),
                ((_code(reason), *told) for reason, told in advice.ON_THE_WAY.items()),
            ),
            _ENDS_HEAD,
            *_table(
                ("reason", "`Succeeded`", "state", "means", "what to do"),
                map(_end_row, FINAL_STATES),
            ),
            _RECEIPTS_HEAD,
            *_table(
                ("reason", "means", "what to do"),
                ((_code(one), one.sentence, advice.RECEIPTS[one]) for one in _shown()),
            ),
            _COLUMNS_HEAD,
            *_table(
                ("column", "shown", "value"),
                map(_column_row, version["additionalPrinterColumns"]),
            ),
        ]
    )


def _check_advice() -> None:
    """See that every word is explained, and every explained word can be met."""
    told = {*advice.ON_THE_WAY, *advice.AT_THE_END}
    met = {
        reason
        for about in advice.CONDITIONS.values()
        for reason in (*about.true, *about.false, *about.unknown)
    }
    silent = {*ConditionReason} ^ told | told ^ met | {*_shown()} ^ {*advice.RECEIPTS}
    silent |= {*ConditionType} ^ {*advice.CONDITIONS}
    if silent:
        raise ValueError(f"dev/advice.py does not fit: {', '.join(sorted(silent))}")


def _shown() -> list[Reason]:
    return [reason for reason in Reason if reason.failure_class not in _NOT_SHOWN]


def _spec(schema: Mapping[str, Any]) -> list[str]:
    fields = list(_fields(schema))
    values = {field.path for field in fields if "properties" not in field.schema}
    if values != set(EXAMPLES):
        raise ValueError(f"examples do not fit: {', '.join(sorted(values ^ set(EXAMPLES)))}")
    fixed = _fixed(schema)
    rows = (
        (
            _code(field.path),
            _type(field.schema),
            _change(field.path, fixed),
            _meaning(field.schema),
            _code(EXAMPLES.get(field.path, "")),
        )
        for field in fields
    )
    return _table(("field", "type and limits", "while it runs", "meaning", "example"), rows)


def _status(schema: Mapping[str, Any]) -> list[str]:
    rows = (
        (_code(field.path), _type(field.schema), _meaning(field.schema))
        for field in _fields(schema)
    )
    return _table(("field", "type and limits", "meaning"), rows)


def _fields(schema: Mapping[str, Any], above: str = "") -> Iterator[Field]:
    """Yield every field below a schema, a parent before its children; [] is an element."""
    for name, one in schema["properties"].items():
        path = f"{above}{name}"
        yield Field(path, one)
        if "properties" in one:
            yield from _fields(one, f"{path}.")
        elif "properties" in one.get("items", {}):
            yield from _fields(one["items"], f"{path}[].")


def _fixed(schema: Mapping[str, Any]) -> set[str]:
    """Return the fields that the API server keeps as they are within a runId."""
    sentences = [rule["message"] for rule in schema["x-kubernetes-validations"]]
    return {one.split()[0] for one in sentences if crd.FIXED in one}


def _change(path: str, fixed: set[str]) -> str:
    outermost, _, _ = path.partition(".")
    return _CHANGES.get(path) or ("fixed" if outermost in fixed else "may change")


def _meaning(schema: Mapping[str, Any]) -> str:
    return str(schema["description"]).replace("**", "`**`").removesuffix(_FIXED_NOTE)


def _type(schema: Mapping[str, Any]) -> str:
    """Say what a value may be, as far as the API server checks it."""
    if schema["type"] == "array":
        return _list_type(schema)
    said = [_NAMES.get(schema.get("format", schema["type"]), schema["type"])]
    if "enum" in schema:
        said = [", ".join(map(_code, schema["enum"]))]
    said += [_range(schema, "minimum", "maximum"), _length(schema), *_sentences(schema)]
    return "; ".join(filter(None, said))


def _list_type(schema: Mapping[str, Any]) -> str:
    elements = schema["items"]
    once = ", each once" if schema["x-kubernetes-list-type"] == "set" else ""
    each = "" if "properties" in elements else f"; each {_type(elements)}"
    return f"list; {_range(schema, 'minItems', 'maxItems')}{once}{each}"


def _length(schema: Mapping[str, Any]) -> str:
    if "pattern" in schema:
        return _code(schema["pattern"].replace("|", "\\|"))
    characters = _range(schema, "minLength", "maxLength")
    return f"{characters} characters" if characters else ""


def _range(schema: Mapping[str, Any], low: str, high: str) -> str:
    least, most = schema.get(low), schema.get(high)
    if most is None or most >= MAX_INT:
        return f"from {least:,}" if least is not None else ""
    return f"at most {most:,}" if least is None else f"{least:,} to {most:,}"


def _sentences(schema: Mapping[str, Any]) -> list[str]:
    return [rule["message"] for rule in schema.get("x-kubernetes-validations", ())]


def _condition_row(type_: ConditionType) -> tuple[str, ...]:
    about = advice.CONDITIONS[type_]
    reasons = (about.true, about.false, about.unknown)
    return _code(type_), about.sentence, *(", ".join(map(_code, one)) for one in reasons)


def _end_row(reason: ConditionReason) -> tuple[str, ...]:
    succeeded = "`True`" if reason in SUCCESSES else "`False`"
    return _code(reason), succeeded, _code(FINAL_STATES[reason]), *advice.AT_THE_END[reason]


def _column_row(column: Mapping[str, Any]) -> tuple[str, ...]:
    shown = "with `-o wide`" if column.get("priority") else "always"
    return column["name"].upper(), shown, _code(column["jsonPath"].removeprefix("."))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(heads), _line(["---"] * len(heads)), *map(_line, rows), ""]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
