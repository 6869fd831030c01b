"""Discovery: the order of a walk, what it leaves out, globs, and files still being written."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_contract.errors import OutageError
from receipt_operator import discovery
from receipt_operator.discovery import Skip


def _fill(root: Path, *references: str) -> Path:
    for reference in references:
        path = root / reference
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return root


# Characters on both sides of "/" in byte order, so that folders and files mix.
_NAMES = st.text(alphabet="a-.0Zé", min_size=1, max_size=3).filter(lambda name: name[0] != ".")
_TREES = st.sets(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), max_size=12)


@given(tree=_TREES, data=st.data())
def test_a_walk_is_in_byte_order_and_goes_on_after_any_reference(
    tmp_path_factory: pytest.TempPathFactory, tree: set[str], data: st.DataObject
) -> None:
    references = sorted({f"{name}.pdf" for name in tree} | {"a/-.pdf"}, key=str.encode)
    root = _fill(tmp_path_factory.mktemp("walk"), *references)
    cursor = data.draw(st.sampled_from(["", "a", "a/", "zz", *references]))

    assert list(discovery.walk(root)) == references
    assert list(discovery.walk(root, after=cursor)) == [r for r in references if r > cursor]


def test_every_supported_type_is_found_whatever_its_case(tmp_path: Path) -> None:
    names = ["a.PDF", "b.Jpg", "c.jpeg", "d.png", "e.heic", "f.HEIF", "g.tif", "h.TIFF"]
    _fill(tmp_path, *names)

    assert list(discovery.walk(tmp_path)) == names


def test_hidden_unfinished_and_other_files_are_passed_over(tmp_path: Path) -> None:
    _fill(tmp_path, "a.pdf", ".b.pdf", ".folder/c.pdf", "d.pdf.part", "e.pdf.tmp", "f.txt", "pdf")

    assert list(discovery.walk(tmp_path)) == ["a.pdf"]


def test_g6_a_tree_deeper_than_any_stack_hides_nothing_behind_it(tmp_path: Path) -> None:
    _fill(tmp_path, "a.pdf", "e.pdf")
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):  # deeper than a path may be long, so it is made from within
        os.mkdir("d", dir_fd=folder)
        parent, folder = folder, os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(parent)
    os.close(folder)

    try:
        walk = discovery.walk(tmp_path)
        assert list(walk) == ["a.pdf", "e.pdf"]
        assert walk.skipped == {Skip.UNREADABLE_FOLDER: 1}
    finally:
        subprocess.run(["rm", "-r", str(tmp_path / "d")], check=True)  # pytest's own recurses


def test_a_prefix_is_plain_text_of_the_reference(tmp_path: Path) -> None:
    _fill(tmp_path, "2026-07/a.pdf", "2026-08/a.pdf", "2026-08-b/a.pdf", "2026-08.pdf", "x.pdf")

    assert list(discovery.walk(tmp_path, prefix="2026-08")) == [
        "2026-08-b/a.pdf",
        "2026-08.pdf",
        "2026-08/a.pdf",
    ]
    assert list(discovery.walk(tmp_path, prefix="2026-08/")) == ["2026-08/a.pdf"]
    assert list(discovery.walk(tmp_path, prefix="nowhere/")) == []


def test_links_inside_are_found_and_others_counted(tmp_path: Path) -> None:
    root = _fill(tmp_path / "root", "a.pdf", "folder/b.pdf")
    _fill(tmp_path, "outside.pdf")
    (root / "inside.pdf").symlink_to("folder/b.pdf")
    (root / "outside.pdf").symlink_to(tmp_path / "outside.pdf")
    (root / "gone.pdf").symlink_to("nothing")
    (root / "circle.pdf").symlink_to("circle.pdf")
    (root / "linked").symlink_to("folder")
    os.mkfifo(root / "pipe.pdf")

    walk = discovery.walk(root)

    assert list(walk) == ["a.pdf", "folder/b.pdf", "inside.pdf"]
    assert walk.skipped == {Skip.LEAVES_ROOT: 1, Skip.NO_FILE: 3}


def test_names_no_message_can_carry_are_counted(tmp_path: Path) -> None:
    _fill(tmp_path, "a.pdf", "back\\slash.pdf")
    (tmp_path / os.fsdecode(b"\xff.pdf")).write_bytes(b"x")

    walk = discovery.walk(tmp_path)

    assert list(walk) == ["a.pdf"]
    assert walk.skipped == {Skip.UNENCODABLE: 1, Skip.UNSAFE: 1}


def test_a_root_that_is_away_is_an_outage_and_never_an_empty_walk(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    for root in (empty, tmp_path / "gone"):
        with pytest.raises(OutageError):
            list(discovery.walk(root))


def test_a_root_that_goes_away_during_a_walk_is_an_outage(tmp_path: Path) -> None:
    root = _fill(tmp_path / "root", "a/1.pdf", "b/2.pdf")
    walk = discovery.walk(root)
    first = next(walk)
    root.rename(tmp_path / "unmounted")
    root.mkdir()

    with pytest.raises(OutageError):
        list(walk)
    assert first == "a/1.pdf"


def test_a_folder_that_vanishes_during_a_walk_is_counted_and_the_walk_goes_on(
    tmp_path: Path,
) -> None:
    _fill(tmp_path, "a/1.pdf", "b/2.pdf", "c/3.pdf")
    walk = discovery.walk(tmp_path)
    next(walk)
    (tmp_path / "b/2.pdf").unlink()
    (tmp_path / "b").rmdir()

    assert list(walk) == ["c/3.pdf"]
    assert walk.skipped == {Skip.UNREADABLE_FOLDER: 1}


@pytest.mark.parametrize(
    ("changed", "modified", "expected"),
    [
        pytest.param(80.0, 80.0, True, id="untouched for long enough"),
        pytest.param(95.0, 95.0, False, id="just written"),
        pytest.param(95.0, 10.0, False, id="just copied with its old time"),
        pytest.param(80.0, 500.0, True, id="copied with a time in the future"),
        pytest.param(90.0, 90.0, True, id="exactly as old as wanted"),
    ],
)
def test_a_file_is_stable_when_untouched_for_a_while(
    changed: float, modified: float, expected: bool
) -> None:
    status = os.stat_result((0o100644, 0, 0, 1, 0, 0, 1, 0.0, modified, changed))

    assert discovery.stable(status, now=100.0, min_age=10.0) is expected


@pytest.mark.parametrize(
    ("reference", "glob", "expected"),
    [
        pytest.param("a.pdf", "*.pdf", True, id="a star within the name"),
        pytest.param("d/a.pdf", "*.pdf", False, id="the whole reference has to match"),
        pytest.param("d/a.pdf", "*/*.pdf", True, id="a star for each segment"),
        pytest.param("d/e/a.pdf", "*/*.pdf", False, id="a star never spans a slash"),
        pytest.param("a.pdf", "**/*.pdf", True, id="two stars for no segment"),
        pytest.param("d/e/a.pdf", "**/*.pdf", True, id="two stars for several segments"),
        pytest.param("d/e/a.pdf", "d/**", True, id="two stars at the end"),
        pytest.param("d", "d/**", False, id="two stars at the end want something"),
        pytest.param("d", "**", True, id="two stars alone match all"),
        pytest.param("d/e/f/a.pdf", "d/**/f/**/*.pdf", True, id="two stars twice"),
        pytest.param("d/a.pdf", "d/**/**/a.pdf", True, id="two stars in a row are as one"),
        pytest.param("d/e/a.pdf", "d**/a.pdf", False, id="two stars in a name are as one star"),
        pytest.param("A.PDF", "*.pdf", False, id="case counts"),
        pytest.param("a1.pdf", "a[0-9].pdf", True, id="a set"),
        pytest.param("ab.pdf", "a[!0-9].pdf", True, id="a negated set"),
        pytest.param("a/b", "a[!x]b", False, id="a negated set never matches a slash"),
        pytest.param("a1", "a?", True, id="a question mark"),
        pytest.param("a/", "a?", False, id="a question mark never matches a slash"),
        pytest.param("[a.pdf", "[a.pdf", True, id="an open bracket stands for itself"),
        pytest.param(".a.pdf", "*.pdf", True, id="a leading dot is no exception"),
        pytest.param("d/a.pdf", "./d//a.pdf", True, id="dots and double slashes are tidied"),
        pytest.param("d/a.pdf", "/d/a.pdf", False, id="a reference is never absolute"),
        pytest.param("a.pdf", "", False, id="an empty glob matches nothing"),
    ],
)
def test_a_glob_matches_as_pathlib_says(reference: str, glob: str, expected: bool) -> None:
    assert discovery.matches_glob(reference, glob) is expected


def _matches_by_definition(names: list[str], segments: list[str]) -> bool:
    if not segments:
        return not names
    first, *rest = segments
    if first == "**":
        if set(rest) <= {"**"}:
            return bool(names)
        return any(_matches_by_definition(names[at:], rest) for at in range(len(names) + 1))
    return bool(names) and first in {"*", names[0]} and _matches_by_definition(names[1:], rest)


@given(
    names=st.lists(st.sampled_from("ab"), min_size=1, max_size=6),
    segments=st.lists(st.sampled_from(["a", "b", "*", "**"]), min_size=1, max_size=6),
)
def test_a_glob_agrees_with_its_definition(names: list[str], segments: list[str]) -> None:
    matched = discovery.matches_glob("/".join(names), "/".join(segments))

    assert matched is _matches_by_definition(names, segments)
