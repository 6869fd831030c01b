"""`receipts extract` with the real Tesseract, on the sample receipts."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dev import samples
from tests.support import ledger
from tests.support.ledger import Ran
from tests.support.receipts import small_receipt

FIELDS = ("merchant_name", "transaction_date", "total", "currency", "card_last4", "error")


@pytest.fixture(scope="module")
def extracted() -> dict[str, dict[str, Any]]:
    """Read all samples once, as a program would ask for them."""
    ran = ledger.run("receipts", "extract", samples.FOLDER, "--format", "jsonl")
    assert ran.code == 0, ran.stderr
    prefix = f"{samples.FOLDER}/"
    return {line["file"].removeprefix(prefix): line for line in ran.lines}


@pytest.mark.parametrize(
    "reference",
    [pytest.param(one.reference, id=f"{one.reference}: {one.about}") for one in samples.SAMPLES],
)
def test_a_sample_is_read_as_it_is_printed(
    extracted: dict[str, dict[str, Any]], reference: str
) -> None:
    expected = json.loads(samples.EXPECTED.read_text("utf-8"))[reference]

    found = extracted[reference]

    assert {name: found[name] for name in FIELDS} == {name: expected.get(name) for name in FIELDS}


def test_files_are_answered_in_order_and_a_bad_one_harms_no_other(tmp_path: Path) -> None:
    good = tmp_path / "good.png"
    good.write_bytes(small_receipt().content)
    empty = tmp_path / "empty.pdf"
    empty.touch()

    ran = ledger.run("receipts", "extract", empty, tmp_path / "none.png", good)

    assert ran.code == 0
    assert [(line["file"], line["error"]) for line in ran.lines] == [
        (str(empty), "empty_file"),
        (str(tmp_path / "none.png"), "source_missing"),
        (str(good), None),
    ]
    assert ran.lines[2]["total"] == str(small_receipt().total)


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        pytest.param({}, "", id="no file at all can be read"),
        pytest.param(
            {"RECEIPT_OCR_LANGUAGES": "xxx"}, "no model xxx", id="a language is not installed"
        ),
    ],
)
def test_the_exit_code_tells_when_nothing_could_be_read(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    bad = tmp_path / "text.jpg"
    bad.write_text("no picture")

    ran = ledger.run("receipts", "extract", bad, env=environment)

    assert ran.code == 1
    assert sentence in ran.stderr


def test_a_table_is_for_people(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(small_receipt().content)

    ran: Ran = ledger.run("receipts", "extract", tmp_path, "--format", "table")

    assert ran.code == 0
    assert "CORNER SHOP" in ran.stdout


def test_an_explanation_tells_where_a_value_was_read_and_draws_it(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(small_receipt().content)
    drawn = tmp_path / "seen.png"

    ran = ledger.run("receipts", "extract", tmp_path / "a.png", "--explain", "--image", drawn)

    assert ran.code == 0, ran.stderr
    assert f"total                  {small_receipt().total}" in ran.stdout
    assert "page 1, pass 1" in ran.stdout
    with Image.open(drawn) as seen:
        assert len(seen.getcolors(maxcolors=2**16) or ()) > 2  # black on white, and our boxes


def test_one_picture_is_not_written_for_many_files(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(small_receipt().content)

    ran = ledger.run("receipts", "extract", tmp_path, "--image", tmp_path / "seen.png")

    assert ran.code == 1
    assert "--image takes one file" in ran.stderr
