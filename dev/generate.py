"""Writes the generated files of the repository: `make generate`.

A test compares what is committed with what `files` returns.
"""

from pathlib import Path

import yaml

from dev import chart_data, fields_page, settings_page
from dev.gitops import customizations
from receipt_contract import crd
from receipt_contract.requests import Kind

ROOT = Path(__file__).resolve().parent.parent

CHART_FILES = Path("charts/receipts/files")  # a chart reads nothing outside its own folder
HEAD = "# Generated from the models in contract/receipt_contract; do not edit: make generate\n"


def files() -> dict[Path, str]:
    """Return every generated file: its path below the checkout and its text."""
    definitions = {
        Path("crds") / f"{crd.crd_name(kind)}.yaml": HEAD + _yaml(crd.render(kind)) for kind in Kind
    }
    return {
        **definitions,
        **{CHART_FILES / path: text for path, text in definitions.items()},
        chart_data.PATH: chart_data.render(),
        chart_data.USERS_SCRIPT: chart_data.users_script(),
        customizations.PATH: customizations.render(),
        fields_page.PATH: fields_page.render(),
        settings_page.PATH: settings_page.render(),
    }


def _yaml(document: object) -> str:
    return yaml.dump(
        document,
        Dumper=_WithoutAnchors,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=100,
    )


class _WithoutAnchors(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of the base
        return True


def main() -> None:
    """Write all files and name them."""
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
