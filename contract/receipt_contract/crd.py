"""Renders the CustomResourceDefinitions of the two kinds from their models.

Owns what only the API server needs: rules in CEL with their sentences, list types, columns. The
models own names, shapes, bounds and descriptions. Reads and writes nothing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from receipt_contract.requests import API_VERSION, CATEGORY, GROUP, VERSION, Kind, RequestSpec
from receipt_contract.status import UNSEEN_GENERATION, RequestStatus

_KEPT = (
    "type",
    "description",
    "format",
    "pattern",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "required",
)

_DESCRIPTIONS = {
    Kind.RECEIPT_REPROCESS: "Reads receipts again and replaces their saved extraction.",
    Kind.CACHE_REBUILD: "Reads receipts again for the OCR cache and keeps their saved extraction.",
}


class Rule(NamedTuple):
    """One check of the API server and what it says when the check fails."""

    expression: str
    sentence: str


# Marks the sentences about fields that are part of the request.
FIXED = "is fixed within a runId"

# Optionals with a default, `.?runId.orValue("")`, cost a hundred times the budget.
_OTHER_RUN = '(has(self.runId) ? self.runId : "") != (has(oldSelf.runId) ? oldSelf.runId : "")'

# Whole segments, none of them empty, "." or "..". A split and a loop would cost more than allowed.
_PLAIN_PATH = (
    r"self.matches('^[^/\\\\\\x00]+(/[^/\\\\\\x00]+)*$') && !self.matches('(^|/)[.]{1,2}(/|$)')"
)
_PLAIN_PREFIX = (
    r"self.matches('^[^/\\\\\\x00]+(/[^/\\\\\\x00]+)*/?$') && !self.matches('(^|/)[.]{1,2}(/|$)')"
)
_PATH_SENTENCE = (
    "a reference is a path below the receipts root: "
    "no leading or double slash, no backslash, no '.' or '..' segment"
)


def _fixed(field: str, unchanged: str) -> Rule:
    return Rule(
        f"{_OTHER_RUN} || {unchanged}",
        f"{field} {FIXED}: set a new spec.runId together with the new {field}",
    )


# By the place of the field in the object; [] is an element of the list.
RULES: Mapping[str, tuple[Rule, ...]] = {
    "spec": (
        _fixed("target", "self.target == oldSelf.target"),
        _fixed(
            "dryRun",
            "(has(self.dryRun) && self.dryRun) == (has(oldSelf.dryRun) && oldSelf.dryRun)",
        ),
        _fixed(
            "rerunPolicy",
            '(has(self.rerunPolicy) && self.rerunPolicy == "OnRecreate")'
            ' == (has(oldSelf.rerunPolicy) && oldSelf.rerunPolicy == "OnRecreate")',
        ),
        _fixed(
            "maxItems",
            "(has(self.maxItems) ? self.maxItems : 0)"
            " == (has(oldSelf.maxItems) ? oldSelf.maxItems : 0)",
        ),
        Rule(
            f"{_OTHER_RUN} || !(has(oldSelf.cancel) && oldSelf.cancel)"
            " || (has(self.cancel) && self.cancel)",
            "a cancelled request stays cancelled: set a new spec.runId to run again",
        ),
        Rule(
            "!has(self.target.retryFailedOf)"
            ' || self.target.retryFailedOf != (has(self.runId) ? self.runId : "")',
            "retryFailedOf names an earlier runId: set a new spec.runId for the retry itself",
        ),
    ),
    "spec.target": (
        Rule(
            "[has(self.reference), has(self.references), has(self.selector),"
            " has(self.retryFailedOf)].exists_one(given, given)",
            "set exactly one of reference, references, selector, retryFailedOf",
        ),
    ),
    "spec.target.reference": (Rule(_PLAIN_PATH, _PATH_SENTENCE),),
    "spec.target.references[]": (Rule(_PLAIN_PATH, _PATH_SENTENCE),),
    "spec.target.selector": (
        Rule(
            "has(self.pathPrefix) || has(self.glob) || has(self.cache)"
            " || has(self.cacheVersionBelow) || has(self.extractionStatus)"
            " || has(self.processedBefore) || has(self.transactionDate)",
            "a selector needs at least one field; to take every receipt write cache: Any",
        ),
    ),
    "spec.target.selector.glob": (
        Rule(_PLAIN_PATH, _PATH_SENTENCE.replace("a reference", "a glob")),
    ),
    "spec.target.selector.pathPrefix": (
        Rule(_PLAIN_PREFIX, _PATH_SENTENCE.replace("a reference is", "a path prefix starts")),
    ),
    "spec.target.selector.transactionDate": (
        Rule("has(self.from) || has(self.to)", "a transactionDate needs from, to or both"),
        Rule(
            "!has(self.from) || !has(self.to) || self.from <= self.to",
            "transactionDate.from is not after transactionDate.to",
        ),
    ),
}

# Lists whose elements have a name; sets are known by their type, all others are replaced whole.
_LIST_KEYS = {"status.conditions": "type", "status.failures.byReason": "reason"}

_SUCCEEDED = '.status.conditions[?(@.type=="Succeeded")]'

# Name, type, path. A date column shows an age, so it is for times gone by only.
_COLUMNS = (
    ("State", "string", ".status.state"),
    ("Done", "string", ".status.progress.summary"),
    ("Pct", "integer", ".status.progress.percent"),
    ("Failed", "integer", ".status.progress.failed"),
    ("ETA", "string", ".status.rate.eta"),
    ("Age", "date", ".metadata.creationTimestamp"),
)
_WIDE_COLUMNS = (
    ("Run", "string", ".status.run.id"),
    ("Target", "string", ".status.effective.target"),
    ("Priority", "string", ".status.effective.priority"),
    ("Reason", "string", f"{_SUCCEEDED}.reason"),
    ("Message", "string", f"{_SUCCEEDED}.message"),
    ("Started", "date", ".status.run.startTime"),
    ("Finished", "date", ".status.run.finishTime"),
)


def render(kind: Kind) -> dict[str, Any]:
    """Return the CustomResourceDefinition of one kind."""
    singular = kind.value.lower()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": crd_name(kind)},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.value,
                "listKind": f"{kind.value}List",
                "plural": kind.plural,
                "singular": singular,
                "shortNames": [kind.short_name],
                "categories": [CATEGORY],
            },
            "versions": [_version(kind)],
        },
    }


def crd_name(kind: Kind) -> str:
    """Return the name of a kind's definition."""
    return f"{kind.plural}.{GROUP}"


def _version(kind: Kind) -> dict[str, Any]:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _object_schema(kind)},
        "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": ".spec.priority"}, {"jsonPath": ".status.state"}],
        "additionalPrinterColumns": [
            *({"name": name, "type": of, "jsonPath": path} for name, of, path in _COLUMNS),
            *(
                {"name": name, "type": of, "jsonPath": path, "priority": 1}
                for name, of, path in _WIDE_COLUMNS
            ),
        ],
    }


def _object_schema(kind: Kind) -> dict[str, Any]:
    return {
        "type": "object",
        "description": _DESCRIPTIONS[kind],
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": f"{API_VERSION}."},
            "kind": {"type": "string", "description": f"{kind.value}."},
            "metadata": {"type": "object"},
            "spec": _structural(RequestSpec.model_json_schema(), "spec"),
            "status": {
                # Tools that compare generations see work to do before the operator's first look.
                "default": {"observedGeneration": UNSEEN_GENERATION},
                **_structural(RequestStatus.model_json_schema(), "status"),
            },
        },
    }


def _structural(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """Turn a model's JSON schema into the structural form that the API server takes."""
    return _node(schema, path, schema.get("$defs", {}))


def _node(raw: Mapping[str, Any], path: str, definitions: Mapping[str, Any]) -> dict[str, Any]:
    node = _resolved(raw, definitions)
    out = {key: node[key] for key in _KEPT if key in node}
    if "properties" in node:
        out["properties"] = {
            name: _node(field, f"{path}.{name}", definitions)
            for name, field in node["properties"].items()
        }
    if "items" in node:
        out["items"] = _node(node["items"], f"{path}[]", definitions)
        out |= _list_type(node, path)
    if path in RULES:
        out["x-kubernetes-validations"] = [
            {"rule": rule.expression, "message": rule.sentence} for rule in RULES[path]
        ]
    return out


def _resolved(raw: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a reference and drop the null of an optional field: absent is not null here.

    What stands at the field, its description above all, wins over what stands at its type.
    """
    node = dict(raw)
    if "anyOf" in node:
        (present,) = [choice for choice in node.pop("anyOf") if choice.get("type") != "null"]
        node = {**present, **node}
    if "$ref" in node:
        name = node.pop("$ref").rsplit("/", 1)[-1]
        node = {**definitions[name], **node}
    return node


def _list_type(node: Mapping[str, Any], path: str) -> dict[str, Any]:
    if path in _LIST_KEYS:
        return {
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": [_LIST_KEYS[path]],
        }
    return {"x-kubernetes-list-type": "set" if node.get("uniqueItems") else "atomic"}
