"""How often a value with such evidence was right: the table measured on labelled receipts.

A table is monotone: more evidence never means less confidence. It is data, fitted anew to labelled
receipts when extraction changes.
"""

import tomllib
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

NOT_MEASURED = "other"


class Step(BaseModel):
    """Values with at least this score were right in `confidence` of `receipts` cases."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: int
    confidence: Decimal
    receipts: int


def confidence(field: str, score: int) -> Decimal:
    """Return the share of values that were right with this much evidence."""
    tables = _tables()
    steps = tables.get(field, tables[NOT_MEASURED])
    reached = [step.confidence for step in steps if step.score <= score]
    return reached[-1] if reached else steps[0].confidence


@cache
def _tables() -> dict[str, Sequence[Step]]:
    text = resources.files("receipt_worker").joinpath("calibration.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {
        field: tuple(Step.model_validate(step) for step in steps) for field, steps in tables.items()
    }
