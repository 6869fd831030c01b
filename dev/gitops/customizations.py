"""What Argo CD has to know of the two kinds, as a patch of its ConfigMap `argocd-cm`.

The scripts lie in `examples/argocd`; the patch holds a copy of them for each kind.
"""

from pathlib import Path
from textwrap import indent

from dev import folders
from receipt_contract.requests import GROUP, Kind

PATH = Path("examples/argocd/argocd-cm.yaml")
SCRIPTS = folders.CHECKOUT / "examples" / "argocd"

HEALTH = SCRIPTS / "health.lua"
DISCOVERY = SCRIPTS / "actions" / "discovery.lua"
ACTIONS = ("rerun-failed", "suspend", "resume", "cancel")

_HEAD = """\
# Health and actions of the two kinds, for Argo CD:
#
#   kubectl --namespace argocd patch configmap argocd-cm --patch-file argocd-cm.yaml
#
# Generated from the scripts beside this file; do not edit: make generate
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
data:
"""


def action(name: str) -> Path:
    """Return the script of an action."""
    return SCRIPTS / "actions" / f"{name}.lua"


def render() -> str:
    """Return the patch."""
    values = {
        f"resource.customizations.{what}.{GROUP}_{kind.value}": text
        for kind in Kind
        for what, text in (("health", _read(HEALTH)), ("actions", _actions()))
    }
    return _HEAD + "".join(f"  {key}: |\n{indent(text, '    ')}" for key, text in values.items())


def _actions() -> str:
    definitions = "".join(
        f"- name: {name}\n  action.lua: |\n{indent(_read(action(name)), '    ')}"
        for name in ACTIONS
    )
    return f"discovery.lua: |\n{indent(_read(DISCOVERY), '  ')}definitions:\n{definitions}"


def _read(script: Path) -> str:
    return script.read_text(encoding="utf-8")
