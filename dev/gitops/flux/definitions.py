"""The definitions of Flux's kinds, from go.mod beside this file."""

from pathlib import Path

from dev import gotools
from dev.gotools import Module

_FLUX = "github.com/fluxcd"
_FILES = (
    ("kustomize-controller", "kustomize.toolkit.fluxcd.io_kustomizations.yaml"),
    ("source-controller", "source.toolkit.fluxcd.io_gitrepositories.yaml"),
)


def files() -> list[Path]:
    """Return the files with the definitions of Kustomization and GitRepository."""
    module = Module("flux", Path(__file__).parent, "pinned", linker_flags="")
    return [
        gotools.ensure_file(module, f"{_FLUX}/{name}", f"config/crd/bases/{file}")
        for name, file in _FILES
    ]
