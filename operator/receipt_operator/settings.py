"""The operator's settings, read once in `__main__`."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from receipt_contract.requests import MAX_IN_FLIGHT
from receipt_runtime.settings import RuntimeSettings


class OperatorSettings(RuntimeSettings):
    """What the operator is told by its environment."""

    cluster: str = Field(
        min_length=1,
        max_length=63,
        pattern=r"^[A-Za-z0-9._-]+$",
        validation_alias="RECEIPTS_CLUSTER",
        description="Name of this cluster. Part of every request id: the same name with the same"
        " database finds its old requests again, another name runs everything anew.",
    )
    namespaces: Annotated[tuple[str, ...], NoDecode] = Field(
        min_length=1,
        validation_alias="RECEIPTS_NAMESPACES",
        description="Namespaces to watch, separated by commas.",
    )
    database_url: SecretStr = Field(
        validation_alias="DATABASE_URL", description="PostgreSQL with the schema `work`."
    )
    receipts_root: Path = Field(
        validation_alias="RECEIPT_SOURCE_ROOT", description="The receipts, mounted read-only."
    )
    cache_root: Path = Field(
        validation_alias="HOME_BUDGET_OCR_CACHE", description="The OCR cache, mounted read-only."
    )
    max_in_flight: int = Field(
        default=100,
        ge=1,
        le=MAX_IN_FLIGHT,
        validation_alias="RECEIPTS_MAX_IN_FLIGHT",
        description="Receipts of one request on their way at a time, where it says nothing:"
        " enough to keep dozens of workers busy, few enough to cancel soon.",
    )
    global_in_flight: int = Field(
        default=20_000,
        ge=1,
        validation_alias="RECEIPTS_GLOBAL_IN_FLIGHT",
        description="Receipts of all requests on their way at a time: a fifth of the work queue.",
    )
    approve_first: int | None = Field(
        default=None,
        ge=0,
        validation_alias="RECEIPTS_APPROVE_FIRST",
        description="A brake for a lost database: where it holds no request of this cluster, only"
        " so many go on by themselves and others wait for approval, until the operator is started"
        " without this.",
    )
    delete_finished: bool = Field(
        default=False,
        validation_alias="RECEIPTS_DELETE_FINISHED",
        description="Delete objects at the end of their ttlSecondsAfterFinished. The Role needs the"
        " verb delete for it.",
    )
    paused: bool = Field(
        default=False,
        validation_alias="RECEIPTS_PAUSED",
        description="Send nothing and show every unfinished request as suspended, until the"
        " operator is started without it.",
    )
    republish_after_seconds: float = Field(
        default=3600,
        ge=1,
        validation_alias="RECEIPTS_REPUBLISH_AFTER_SECONDS",
        description="A receipt sent this much before an answered one is lost. Longer than three"
        " attempts and their pauses can take.",
    )
    settle_grace_seconds: float = Field(
        default=600,
        ge=0,
        validation_alias="RECEIPTS_SETTLE_GRACE_SECONDS",
        description="How long a cancelled request waits for receipts that are being read.",
    )
    missing_grace_seconds: float = Field(
        default=10,
        ge=0,
        validation_alias="RECEIPTS_MISSING_GRACE_SECONDS",
        description="How long a file may be missing before its item fails: network volumes show"
        " new files late.",
    )
    sweep_seconds: float = Field(
        default=300,
        ge=1,
        le=600,  # the liveness probe wants one every fifteen minutes
        validation_alias="RECEIPTS_SWEEP_SECONDS",
        description="Time between complete lists, which catch what a watch missed.",
    )
    lease_seconds: float = Field(
        default=15,
        ge=3,
        validation_alias="RECEIPTS_LEASE_SECONDS",
        description="How long a dead operator keeps its successor waiting.",
    )

    @field_validator("namespaces", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            names = (name.strip() for name in value.split(","))
            return tuple(dict.fromkeys(name for name in names if name))
        return value
