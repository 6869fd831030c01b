"""The cache root: present files, and a volume that is away."""

from pathlib import Path

import pytest

from receipt_contract.errors import OutageError, Reason
from receipt_operator import caches

SHA = "b" * 64


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("2024-03/a.pdf.json", True, id="the present layout counts"),
        pytest.param(f"{SHA}.json", True, id="the earlier layout counts"),
        pytest.param("a.pdf.json", False, id="another receipt of the same name does not"),
    ],
)
def test_a_receipt_is_cached_when_its_file_is_there(
    tmp_path: Path, name: str, expected: bool
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")

    assert caches.is_cached(tmp_path, "2024-03/a.pdf", sha256=SHA) is expected


def test_a_name_no_file_can_have_is_not_cached(tmp_path: Path) -> None:
    assert not caches.is_cached(tmp_path, "x" * 300, sha256=SHA)


def test_a_cache_root_without_the_workers_mark_is_an_outage(tmp_path: Path) -> None:
    with pytest.raises(OutageError) as caught:
        caches.check_root(tmp_path)

    assert caught.value.reason is Reason.CACHE_UNAVAILABLE


def test_a_marked_cache_root_is_trusted(tmp_path: Path) -> None:
    (tmp_path / ".ocr-cache").touch()

    caches.check_root(tmp_path)
