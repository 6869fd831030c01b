"""Both engines on real pictures: words with places, and who is asked when."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from dev import paper
from receipt_contract.errors import PermanentError
from receipt_contract.results import ExtractionStatus
from receipt_worker.document import Reading, ReviewReason
from receipt_worker.engines import rapidocr
from receipt_worker.engines.base import Engine
from receipt_worker.engines.choice import Engines
from receipt_worker.engines.rapidocr import RapidOcr
from receipt_worker.engines.tesseract import Tesseract
from receipt_worker.extraction import lines
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings
from tests.support.receipts import small_receipt

TODAY = date(2026, 3, 1)
PATIENCE = 120.0  # seconds a pass may take on a busy machine
MANY = 4  # pages, one more than are read more than once
LARGE = (1700, 1750)  # pixels, just too few to look at a page before it is read
TILT = 2.0  # degrees


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Give a warm reading process with both engines."""
    with Reader(settings(tmp_path_factory.mktemp("work"), Engines.BOTH)) as reader:
        yield reader


def settings(folder: Path, engines: Engines) -> ReadingSettings:
    return ReadingSettings.model_validate(
        {"RECEIPT_OCR_WORK_FOLDER": folder, "RECEIPT_OCR_ENGINES": engines}
    )


def picture(number: int = 1) -> Image.Image:
    """Draw a small receipt."""
    return Image.open(BytesIO(small_receipt(number).content)).convert("L")


def engines_of(reading: Reading) -> list[str]:
    return [record.engine for record in reading.passes]


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(Tesseract(languages="eng", psm=6), id="the one that is always there"),
        pytest.param(RapidOcr(timeout=PATIENCE), id="the one of the extra"),
    ],
)
def test_an_engine_gives_words_where_they_are_printed(engine: Engine) -> None:
    page = picture()

    words = engine.words(page)

    [total] = [line for line in lines.rows(words, page=1) if line.text.startswith("TOTAL")]
    assert total.words[-1].text.endswith(str(small_receipt().total))
    amount = total.words[-1].box
    assert 0.6 * page.width < amount.x < amount.right <= page.width  # amounts stand on the right
    place = page.crop((amount.x, amount.y, amount.right, amount.bottom))
    assert place.histogram()[0] > 0 < place.histogram()[-1]
    assert all(0 <= word.confidence <= 100 for word in words)


def test_words_of_a_tilted_line_stay_apart() -> None:
    tilted = picture().rotate(TILT, Image.Resampling.BICUBIC, expand=True, fillcolor="white")

    texts = [word.text for word in RapidOcr(timeout=PATIENCE).words(tilted)]

    assert {"CORNER", "SHOP", "TOTAL"} <= set(texts)


@pytest.mark.parametrize(
    ("columns", "middles"),
    [
        pytest.param([0, 9, 18], [0.025, 0.475, 0.925], id="as they stand"),
        pytest.param([9, 24], [0.38, 0.98], id="some seen behind the end"),
        pytest.param([], [], id="nothing"),
    ],
)
def test_rapidocr_sees_every_character_within_its_line(
    columns: list[int], middles: list[float]
) -> None:
    assert rapidocr.middles_of(columns, length=20.0) == pytest.approx(middles)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(Image.new("L", (300, 300), "white"), id="white paper"),
        pytest.param(Image.new("L", (20, 20), "black"), id="a speck"),
        pytest.param(picture().rotate(90, expand=True), id="a page on its side"),
    ],
)
def test_rapidocr_reads_nothing_where_it_can_read_nothing(page: Image.Image) -> None:
    assert RapidOcr(timeout=PATIENCE).words(page) == ()


def test_models_are_not_fetched() -> None:
    program = (
        "import socket\n"
        "def refuse(*_): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "socket.getaddrinfo = refuse\n"
        "from receipt_worker.engines import rapidocr\n"
        "rapidocr.load()\n"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert done.returncode == 0, done.stderr


def test_tesseract_is_asked_only_for_what_rapidocr_does_not_prove(reader: Reader) -> None:
    reading = reader.read(small_receipt().content, today=TODAY)

    assert reading.extraction.status is ExtractionStatus.COMPLETE
    assert engines_of(reading) == ["rapidocr"]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_receipt_is_turned_back(reader: Reader, turn: int) -> None:
    turned = paper.as_png(picture(2).rotate(turn, expand=True))

    reading = reader.read(turned, today=TODAY)

    assert reading.extraction.total == small_receipt(2).total
    assert reading.extraction.transaction_date == small_receipt(2).day


def test_a_long_document_is_read_once_and_whole(reader: Reader) -> None:
    pages = [picture(number) for number in range(1, MANY + 1)]

    reading = reader.read(paper.as_scanned_pdf(pages), today=TODAY)

    assert engines_of(reading) == ["tesseract"] * MANY
    assert [page.page_number for page in reading.pages] == list(range(1, MANY + 1))
    assert all("TOTAL" in record.text for record in reading.passes)
    assert ReviewReason.LIMIT_HIT in reading.extraction.review_reasons


def test_more_pages_take_no_more_memory(reader: Reader) -> None:
    peaks = []
    for count in (MANY, 2 * MANY):
        pages = [picture(number).resize(LARGE) for number in range(1, count + 1)]
        reader.read(paper.as_scanned_pdf(pages), today=TODAY)
        peaks.append(reader.cost.peak_bytes)

    few, many = peaks
    assert many < few + 3 * LARGE[0] * LARGE[1]  # of four more pages


def test_without_rapidocr_all_passes_are_of_tesseract(tmp_path: Path) -> None:
    with Reader(settings(tmp_path, Engines.TESSERACT)) as reader:
        reading = reader.read(small_receipt().content, today=TODAY)

    assert set(engines_of(reading)) == {"tesseract"}
    assert reading.extraction.total == small_receipt().total


def test_what_a_receipt_took_is_known_even_when_it_is_refused(reader: Reader) -> None:
    reader.read(small_receipt(3).content, today=TODAY)
    read = reader.cost
    with pytest.raises(PermanentError):
        reader.read(b"no receipt", today=TODAY)

    assert read.cpu_seconds > reader.cost.cpu_seconds >= 0
    assert read.peak_bytes > 0
