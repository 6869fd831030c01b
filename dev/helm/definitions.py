"""The definitions of the kinds of others that the chart can make, from kinds/go.mod."""

import re
from pathlib import Path

from dev import gotools
from dev.gotools import Module

_FOLDER = Path(__file__).parent / "kinds"
_KEDA = "github.com/kedacore/keda/v2"
_PROMETHEUS = "github.com/prometheus-operator/prometheus-operator"
_FILES = (
    (_KEDA, "config/crd/bases/keda.sh_scaledobjects.yaml"),
    (_KEDA, "config/crd/bases/keda.sh_triggerauthentications.yaml"),
    (_PROMETHEUS, "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"),
    (_PROMETHEUS, "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"),
)


def files() -> list[Path]:
    """Return the files; fetches them where they are missing, which needs Go."""
    return [gotools.ensure_file(_module(), module, file) for module, file in _FILES]


def present() -> list[Path]:
    """Return the files when they were fetched before, else none."""
    found = [gotools.present(_module(), Path(file).name) for _, file in _FILES]
    return [path for path in found if path is not None] if all(found) else []


def _module() -> Module:
    pins = re.findall(r"^\t\S+ v(\S+)", (_FOLDER / "go.mod").read_text("utf-8"), re.MULTILINE)
    return Module("helm/kinds", _FOLDER, "-".join(pins), linker_flags="")
