"""Images for the pods: built by buildah without a daemon, kept as archives that a cluster loads.

Layers, archives and the base are kept outside the checkout and made again when what they are made
of changes. BASE_IMAGE names another base for ours, such as one with the sources and authorities of
a company; without it, it is a small Debian with Python.
"""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from dev import console, folders, process
from dev.errors import DevError
from dev.kubernetes import kind

VARIABLE = "BASE_IMAGE"

_BASE = "localhost/receipts-dev/base:{}-2"  # another number makes it anew
_PACKAGES = ("ca-certificates", "python3", "python3-venv")
_NOT_NEEDED = (
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
)
# What pip and apt need to trust on this machine is seen by the builders and is in no image.
_AUTHORITIES = Path("/etc/ssl/certs")
_OF_PROGRAM = 'FROM scratch\nCOPY {0} /{0}\nENTRYPOINT ["/{0}"]\n'
# Mounts and children of a build end with it, also when it is killed.
_CONTAINED = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"),
)


class Suite(StrEnum):
    """A release of Debian."""

    BOOKWORM = "bookworm"
    TRIXIE = "trixie"


class Target(StrEnum):
    """One of the Dockerfile's images."""

    OPERATOR = "operator"
    WORKER = "worker"
    COLLECTOR = "collector"
    CLI = "cli"

    @property
    def image(self) -> str:
        """What the chart calls it."""
        return f"receipt-{self}"


def of_program(program: Path, name: str) -> Path:
    """Return an archive with an image of one static program; quick when it was made before."""
    with _alone(), tempfile.TemporaryDirectory() as folder:
        shutil.copy2(program, folder)
        dockerfile = Path(folder) / "Dockerfile"
        dockerfile.write_text(_OF_PROGRAM.format(program.name), encoding="utf-8")
        if kind.docker_answers():
            return _built_by_docker(name, folder)
        return _built(name, ["--timestamp=0", folder])


def of_ours(target: Target, name: str) -> Path:
    """Return an archive with one of our images, made anew when its sources changed."""
    base = os.environ.get(VARIABLE)
    with _alone(), console.step(f"building the image {name}"):
        if kind.docker_answers():
            chosen = [] if base is None else [f"--build-arg=BASE_IMAGE={base}"]
            return _built_by_docker(name, f"--target={target}", *chosen, str(folders.CHECKOUT))
        authorities = f"--volume={_AUTHORITIES}:{_AUTHORITIES}:ro"
        given = (f"--target={target}", authorities, str(folders.CHECKOUT))
        return _on_base(name, *given, base=base or _base(Suite.BOOKWORM))


def of_debian(suite: Suite, folder: Path, name: str) -> Path:
    """Return an archive of what a folder's Dockerfile makes of a Debian."""
    with _alone(), console.step(f"building the image {name}"):
        return _on_base(name, str(folder), base=_base(suite))


def sizes(archives: Mapping[Target, Path]) -> str:
    """Return a table of how much disk each image takes unpacked, alone and beyond the base."""
    layers = {target: _layers(archive) for target, archive in archives.items()}
    shared = set.intersection(*(set(one) for one in layers.values()))
    lines = [f"{'image, unpacked':<22}{'MB':>6}{'beyond the base':>18}"]
    for target, one in layers.items():
        beyond = sum(size for name, size in one.items() if name not in shared)
        lines.append(f"{target.image:<22}{sum(one.values()) // 10**6:>6}{beyond // 10**6:>18}")
    return "\n".join(lines)


def _layers(archive: Path) -> dict[str, int]:
    """Return the size of each layer by its place; an archive holds them uncompressed."""
    with tarfile.open(archive) as read:
        manifest = read.extractfile("manifest.json")
        if manifest is None:
            raise DevError(f"{archive} is no archive of an image")
        [image] = json.load(manifest)
        return {name: read.getmember(name).size for name in image["Layers"]}


def _on_base(name: str, *given: str, base: str) -> Path:
    """Build what installs packages."""
    return _built(name, [f"--build-arg=BASE_IMAGE={base}", "--network=host", *given])


def _built(name: str, given: list[str]) -> Path:
    """Build an image, and write its archive when this very image has none yet."""
    _buildah("bud", "--layers", "--quiet", f"--tag={name}", *given)
    identity = _buildah("images", "--quiet", "--no-trunc", name).strip().removeprefix("sha256:")
    folder = _folder() / "archives" / name.replace("/", "_").replace(":", "_")
    archive = folder / f"{identity}.tar"
    if not archive.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        unfinished = folder / "unfinished"
        _buildah("push", "--quiet", name, f"docker-archive:{unfinished}:{name}")
        unfinished.rename(archive)
    return archive


def _built_by_docker(name: str, *given: str) -> Path:
    """Build an image where a Docker engine answers, which knows the base that people use."""
    archive = _folder() / f"{name.replace('/', '_').replace(':', '_')}.tar"
    build = ["docker", "build", "--quiet", f"--tag={name}", *given]
    for argv in (build, ["docker", "save", f"--output={archive}", name]):
        process.run_in_sight(argv, env=os.environ, folder=folders.CHECKOUT)
    return archive


def _base(suite: Suite) -> str:
    name = _BASE.format(suite)
    if not _buildah("images", "--quiet", "--filter", f"reference={name}").strip():
        with console.step("making a Debian with Python"), tempfile.TemporaryDirectory() as folder:
            _debootstrap(Path(folder), suite)
            _buildah("bud", "--quiet", f"--tag={name}", folder)
    return name


def _debootstrap(folder: Path, suite: Suite) -> None:
    """Leave in a folder what a base image is built from."""
    tree = folder / "tree"
    given = ["--variant=minbase", f"--include={','.join(_PACKAGES)}", suite, str(tree)]
    _run(["debootstrap", *given])
    for name in _NOT_NEEDED:
        shutil.rmtree(tree / name, ignore_errors=True)
        (tree / name).mkdir()
    # An archive keeps owners, which copying a folder into an image does not.
    _run(["tar", "--create", f"--file={folder}/tree.tar", f"--directory={tree}", "."])
    shutil.rmtree(tree)
    (folder / "Dockerfile").write_text("FROM scratch\nADD tree.tar /\n", encoding="utf-8")


def _buildah(*arguments: str) -> str:
    storage = _folder() / "storage"
    own = [f"--root={storage}", f"--runroot={storage}/run", "--storage-driver=overlay"]
    return _run(["buildah", *own, *arguments])


def _run(argv: list[str]) -> str:
    """Run a program that makes mounts; return what it prints. Raises DevError with its end."""
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
    log = _folder() / "build.log"
    with log.open("wb") as said:
        done = subprocess.run(
            [*_CONTAINED, *argv],
            check=False,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=environment,
        )
    if done.returncode != 0:
        raise DevError(f"{argv[0]} ended with {done.returncode}\n{process.last_lines(log)}")
    return done.stdout


def _folder() -> Path:
    return folders.programs() / "images"


@contextmanager
def _alone() -> Iterator[None]:
    """Let one build at a time use the storage."""
    _folder().mkdir(parents=True, exist_ok=True)
    with folders.locked(_folder() / ".lock"):
        yield
