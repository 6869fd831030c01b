"""Leaves in an image what its program loads: `python trim.py PROGRAM`, run by the Dockerfile.

Run by the Python of the environment that holds the program, whose libraries came uncompiled. Parts
of them that nothing of ours uses go. Then the program's modules are loaded once: that compiles them
and what they need and nothing else, and it fails the build when something they need is gone.
"""

import importlib
import importlib.util
import pkgutil
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

UNUSED = (
    "**/tests",  # the libraries' own
    "**/*.p[xy][xdi]",  # what compiled modules were made from, and their types
    "kubernetes/**/client/api/[!_]*.py",  # groups of Kubernetes' own kinds
    "kubernetes/**/client/models/[!_]*.py",  # and these kinds
    "onnxruntime/capi/libonnxruntime.so.*",  # for programs in C
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
)
_CLIENT = "kubernetes/aio/client"
KEPT = (
    f"{_CLIENT}/api/custom_objects_api.py",
    f"{_CLIENT}/models/v1_api_resource.py",
    f"{_CLIENT}/models/v1_api_resource_list.py",
    f"{_CLIENT}/models/v1_delete_options.py",
    f"{_CLIENT}/models/v1_preconditions.py",
)
# Found by their names when they are needed.
_LATE = {
    "receipt_operator": ("kubernetes.aio.client.api.custom_objects_api",),
    "receipt_collector": ("sqlalchemy.dialects.postgresql.psycopg",),
    "receipt_cli": ("sqlalchemy.dialects.postgresql.psycopg",),
}
_RUN_BY_ALEMBIC = ".migrations."


def main(program: str) -> None:
    """Trim the environment of this Python for one program."""
    packages = Path(sysconfig.get_path("purelib"))
    kept = {packages / name for name in KEPT}
    for pattern in UNUSED:
        for path in set(packages.glob(pattern)) - kept:
            _remove(path)
    sys.dont_write_bytecode = False  # whatever the base image says
    for name in (f"{program}.__main__", *_LATE.get(program, ())):
        importlib.import_module(name)
    for name in _modules(program):
        _load_unless_left_out(name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:  # or gone with the folder around it
        path.unlink(missing_ok=True)


def _modules(program: str) -> Iterator[str]:
    package = importlib.import_module(program)
    for module in pkgutil.walk_packages(package.__path__, f"{program}."):
        if _RUN_BY_ALEMBIC not in module.name:
            yield module.name


def _load_unless_left_out(name: str) -> None:
    """Load a module, unless it needs a library of which no part was installed."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if importlib.util.find_spec(library) is not None:
            raise


if __name__ == "__main__":
    main(sys.argv[1])
