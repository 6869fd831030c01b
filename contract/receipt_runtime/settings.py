"""Settings that every process of ours has, and how a wrong one is reported.

Values come from the environment, are read once in `__main__`, and never appear in an error.
"""

import argparse
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from receipt_contract.access import ACCESS, Access, BrokerUser

MAX_PORT = 65_535


class TopologyMode(StrEnum):
    """What a process does about exchanges and queues that are missing."""

    DECLARE = "declare"  # makes them; right where one broker user does everything
    CHECK = "check"  # waits for `ledger topology declare`; right where users have few permissions


class LogLevel(StrEnum):
    """Least important lines that are written."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class SettingsError(Exception):
    """Settings cannot be used; the text names each variable and no value."""


def _amqp_url(secret: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(secret.get_secret_value())
        usable = parts.scheme in {"amqp", "amqps"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("an address like amqp://user:password@host:5672/vhost is wanted")
    return secret


BrokerUrl = Annotated[SecretStr, AfterValidator(_amqp_url)]


class TopologySettings(BaseSettings):
    """What everything that publishes or consumes has to know, commands too."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, validate_default=False
    )

    topology: TopologyMode = Field(
        default=TopologyMode.DECLARE,
        validation_alias="RECEIPTS_TOPOLOGY",
        description="Declare the topology, or only check one's part of it (production).",
    )

    def checks(self, user: BrokerUser) -> Access | None:
        """Return what to check as this user; None: declare everything."""
        return ACCESS[user] if self.topology is TopologyMode.CHECK else None


class RuntimeSettings(TopologySettings):
    """Base of each component's settings class."""

    rabbitmq_url: BrokerUrl = Field(
        validation_alias="RABBITMQ_URL",
        description="Broker, user and vhost; amqps for TLS.",
    )
    health_port: int = Field(
        default=8080,
        ge=0,
        le=MAX_PORT,
        validation_alias="HEALTH_PORT",
        description="Port of /livez, /readyz and /metrics; 0 takes any free one.",
    )
    log_level: LogLevel = Field(
        default=LogLevel.INFO,
        validation_alias="LOG_LEVEL",
        description="Least important log lines of ours that are written.",
    )


S = TypeVar("S", bound=BaseSettings)


def read(settings_class: type[S]) -> S:
    """Read settings from the environment; raises SettingsError."""
    try:
        return settings_class()
    except ValidationError as error:
        raise SettingsError(_sentence(error)) from None


class Setting(NamedTuple):
    """One variable of the environment, as people are told about it."""

    names: tuple[str, ...]  # each does; the first is the usual one
    default: str | None  # None: it has to be set
    description: str


def described(*settings_classes: type[BaseSettings]) -> Iterator[Setting]:
    """Give every variable that these classes read, in their order."""
    for settings_class in settings_classes:
        for field in settings_class.model_fields.values():
            alias = field.validation_alias
            if isinstance(alias, AliasChoices):
                names = tuple(str(choice) for choice in alias.choices)
            elif isinstance(alias, str):
                names = (alias,)
            else:
                continue  # a group of limits, which no variable changes
            yield Setting(names, _default(field), field.description or "")


def answer_help(program: str, summary: str, *settings_classes: type[BaseSettings]) -> None:
    """Answer `--help` with the variables; a program of ours takes no argument."""
    lines = [
        f"  {setting.names[0]:<34} {setting.description}"
        + ("" if setting.default is None else f" [{setting.default}]")
        for setting in described(*settings_classes)
    ]
    argparse.ArgumentParser(
        prog=program,
        description=summary,
        epilog="\n".join(["environment:", *lines]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()


def _default(field: FieldInfo) -> str | None:
    if field.is_required():
        return None
    default = field.get_default(call_default_factory=True)
    return str(default.value if isinstance(default, StrEnum) else default)


def _sentence(error: ValidationError) -> str:
    """One sentence for each wrong variable."""
    problems = []
    for detail in error.errors(include_input=False, include_url=False, include_context=False):
        name = ".".join(str(part) for part in detail["loc"]) or "settings"
        if detail["type"] == "missing":
            problems.append(f"{name} is not set")
        else:
            problems.append(f"{name}: {detail['msg'].removeprefix('Value error, ')}")
    return "; ".join(problems)
