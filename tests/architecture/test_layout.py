"""Rules about the tree itself that no other tool watches."""

import operator
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent

_LONGEST_FILE = 400
_CODE = {".py", ".sh", ".sql"}
# Generated or foreign text, whose words and length are not ours.
_NOT_OURS = {"LICENSE"}
_PINS = {"go.mod", "go.sum"}
# Paths of one machine, and notes to finish something later.
_FORBIDDEN = re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/|\b(?:TODO|FIXME|XXX)\b")


def tracked_files() -> list[str]:
    """Return the files under version control that are there, relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], check=True, capture_output=True, text=True, cwd=CHECKOUT
    ).stdout
    return [name for name in listed.split("\0") if name and (CHECKOUT / name).is_file()]


def test_the_operator_folder_does_not_shadow_the_standard_module() -> None:
    assert not (CHECKOUT / "operator" / "__init__.py").exists()
    assert "receipt" not in str(getattr(operator, "__file__", ""))
    from_the_root = [sys.executable, "-c", "import operator; print(operator.itemgetter)"]
    subprocess.run(from_the_root, check=True, capture_output=True, cwd=CHECKOUT)


def test_imports_go_down_only_and_each_client_library_has_one_owner() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], check=False, capture_output=True, text=True, cwd=CHECKOUT
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "package", ["contract", "operator", "worker", "collector", "cli", "dev", "tests"]
)
def test_packages_re_export_nothing(package: str) -> None:
    speaking = [
        name
        for name in tracked_files()
        if name.startswith(f"{package}/")
        and name.endswith("/__init__.py")
        and "import " in _text(name)
    ]

    assert speaking == []


def test_no_source_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        name: len(_text(name).splitlines())
        for name in tracked_files()
        if Path(name).suffix in _CODE and _is_ours(name)
    }

    assert {name: lines for name, lines in lengths.items() if lines > _LONGEST_FILE} == {}


def test_no_file_holds_a_path_of_one_machine_or_a_note_to_finish_it_later() -> None:
    found = [
        f"{name}:{number}: {match[0]}"
        for name in tracked_files()
        if _is_ours(name) and name != Path(__file__).relative_to(CHECKOUT).as_posix()
        for number, line in enumerate(_text(name).splitlines(), start=1)
        for match in _FORBIDDEN.finditer(line)
    ]

    assert found == []


def _is_ours(name: str) -> bool:
    return name not in _NOT_OURS and Path(name).name not in _PINS


def _text(name: str) -> str:
    return (CHECKOUT / name).read_text(encoding="utf-8", errors="replace")
