"""Renders `docs/settings.md` from the settings classes."""

from pathlib import Path

from receipt_collector.settings import CollectorSettings
from receipt_operator.settings import OperatorSettings
from receipt_runtime.settings import Setting, described
from receipt_worker.settings import ReadingSettings, WorkerSettings

PATH = Path("docs/settings.md")

_HEAD = """# Settings

Generated from the settings classes; do not edit: make generate

Each program reads its environment once, when it starts. A wrong value ends it with one sentence
that names the variable and never shows the value. `receipt-operator --help` and its siblings print
the same. A variable without a default has to be set.
"""

_PROGRAMS = {
    "receipt-operator": (OperatorSettings,),
    "receipt-worker": (WorkerSettings, ReadingSettings),
    "receipt-collector": (CollectorSettings,),
}


def render() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *map(_section, _PROGRAMS)])


def _section(program: str) -> str:
    rows = [_row(setting) for setting in described(*_PROGRAMS[program])]
    head = ["| variable | default | meaning |", "| --- | --- | --- |"]
    return "\n".join([f"## {program}", "", *head, *rows, ""])


def _row(setting: Setting) -> str:
    names = " or ".join(f"`{name}`" for name in setting.names)
    default = f"`{setting.default}`" if setting.default else ""
    return f"| {names} | {default} | {setting.description} |"
