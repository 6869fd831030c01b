"""Word tables: those that come along, and one that a user mounts."""

import re
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_runtime.settings import SettingsError, read
from receipt_worker import calibration
from receipt_worker.extraction import receipt, tables, vocabulary
from receipt_worker.settings import ReadingSettings
from tests.unit.worker.printed import ASSUMPTIONS, make_lines

LABELS = vocabulary.load().phrase_words

PAGE = Path(__file__).parents[3] / "docs/words.md"


def example() -> str:
    [text] = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(text)


def test_the_example_of_the_documentation_adds_a_language(tmp_path: Path) -> None:
    path = tmp_path / "polish.toml"
    path.write_text(example(), "utf-8")
    head = ("Apteka Róża Sp. z o.o.", "NIP 1234567890", "Data 5 paź 2024")
    sums = ("RAZEM 7,10", "GOTÓWKA 10,00", "RESZTA 2,90")

    found = receipt.read(make_lines(*head, *sums), vocabulary.load(path), ASSUMPTIONS)

    assert found.totals.best is not None
    assert (found.totals.best.value, found.totals.best.proven) == (Decimal("7.10"), True)
    assert (found.currency, found.country) == ("PLN", "PL")
    assert found.day is not None
    assert found.day.value == date(2024, 10, 5)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("[roles", "the file is not TOML", id="no TOML"),
        pytest.param("[rols]", "rols is no section or key", id="an unknown section"),
        pytest.param("[roles]\ntotl = []", "roles.totl: input should be 'total'", id="a key"),
        pytest.param("[dates]\nmonths = [['jan']]", "twelve lists", id="too few months"),
        pytest.param(
            "[countries.PL]\ncurrency = 'zloty'\nwords = []",
            "countries.PL.currency: ",
            id="a currency that is no code",
        ),
    ],
)
def test_a_wrong_table_ends_the_start_with_one_sentence(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "words.toml"
    path.write_text(text, "utf-8")
    monkeypatch.setenv("RECEIPT_OCR_WORDS", str(path))

    with pytest.raises(SettingsError) as caught:
        read(ReadingSettings)

    assert str(caught.value).startswith("RECEIPT_OCR_WORDS: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", vocabulary.LANGUAGES)
def test_every_language_has_what_a_receipt_needs(name: str) -> None:
    table = tables.language(name)

    assert set(table.roles) >= {tables.Role.TOTAL, tables.Role.PAID, tables.Role.CHANGE}
    assert len(table.dates.months) == tables.MONTHS
    assert table.payments[tables.Method.CASH]
    assert table.merchant.legal


def test_no_two_languages_read_a_month_differently() -> None:
    names = [
        (vocabulary.plain(name), number)
        for language in vocabulary.LANGUAGES
        for number, listed in enumerate(tables.language(language).dates.months, start=1)
        for name in listed
    ]

    assert len(dict(names)) == len(set(names))


@pytest.mark.parametrize("field", ["total", "transaction_date", "merchant_name", "currency"])
def test_more_evidence_never_means_less_confidence(field: str) -> None:
    confidences = [calibration.confidence(field, score) for score in range(-10, 15)]

    assert confidences == sorted(confidences)
    assert all(0 < value < 1 for value in confidences)


def test_the_measured_table_is_readable_data() -> None:
    path = Path(calibration.__file__).with_name("calibration.toml")

    assert set(tomllib.loads(path.read_text("utf-8"))) >= {"total", "transaction_date", "other"}


@given(
    label=st.sampled_from(sorted(LABELS)),
    place=st.integers(0, 12),
    marks=st.text("abehlnostu", max_size=2),
    lost=st.integers(0, 2),
)
def test_labels_like_a_word_are_those_that_comparing_with_each_finds(
    label: str, place: int, marks: str, lost: int
) -> None:
    word = label[:place] + marks + label[place + lost :]

    like = vocabulary.nearly(word, vocabulary.load())

    assert like == {each for each in LABELS if vocabulary.alike(each, word)}
