"""Settings of reading and of the worker process, each with its unit and why it is what it is."""

import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from receipt_contract.identity import MAX_SOURCE_BYTES
from receipt_runtime.settings import RuntimeSettings
from receipt_worker.engines.choice import Engines, is_rapidocr_installed
from receipt_worker.events import Schema
from receipt_worker.extraction import vocabulary

MIB = 1024 * 1024


class ReadingLimits(BaseModel):
    """What one receipt may cost before anything of it is decoded."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_bytes: int = MAX_SOURCE_BYTES
    max_pages: int = 10  # longer documents are no receipts, and each page costs seconds
    max_pixels: int = 40_000_000  # decoded grey, about 40 MB a page
    max_side_pixels: int = 10_000  # engines refuse 32,767, and a till roll ends long before
    max_picture_pixels: int = 160_000_000  # on a page of a PDF, drawn smaller: 2,400 dpi scans pass
    render_dpi: int = 300  # letters of 8 points become 33 pixels
    min_dpi: int = 150  # below, letters of a receipt cannot be read: the page is too large


class ReadingSettings(BaseSettings):
    """How a receipt is read; the same for the worker and for `ledger receipts extract`."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    engines: Engines = Field(
        default=Engines.AUTO,
        validation_alias="RECEIPT_OCR_ENGINES",
        description="`tesseract`, `tesseract+rapidocr`, or `auto`: RapidOCR reads first if its"
        " extra is installed, and Tesseract what that does not prove.",
    )
    languages: str = Field(
        default="eng",
        pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$",
        validation_alias="RECEIPT_OCR_LANGUAGES",
        description="Models of Tesseract, joined by +. Each more costs time and gains little.",
    )
    pass_timeout: float = Field(
        default=20.0,
        gt=0,
        validation_alias="RECEIPT_OCR_PASS_TIMEOUT",
        description="Seconds that one pass over one page may compute; a page takes 0.5, noise 3."
        " Waiting for a processor does not count.",
    )
    deadline: float = Field(
        default=600.0,
        gt=0,
        validation_alias="RECEIPT_OCR_DEADLINE",
        description="Seconds a receipt may take altogether, well below the broker's patience.",
    )
    memory: int = Field(
        default=2048 * MIB,
        ge=512 * MIB,
        validation_alias="RECEIPT_OCR_MEMORY",
        description="Bytes of address space of each reading process; large pages need 1.3 GB.",
    )
    work_folder: Path = Field(
        default=Path(tempfile.gettempdir()) / "receipt-worker",
        validation_alias="RECEIPT_OCR_WORK_FOLDER",
        description="Where page images lie while they are read; emptied of leftovers at start.",
    )
    oldest_years: int = Field(
        default=20,
        ge=1,
        validation_alias="RECEIPT_OCR_OLDEST_YEARS",
        description="Age up to which a date is believed: archives are real, misreadings likelier.",
    )
    words: Path | None = Field(
        default=None,
        validation_alias="RECEIPT_OCR_WORDS",
        description="A table of words for one more language or country, mounted beside those that"
        " come along; see docs/words.md.",
    )
    limits: ReadingLimits = ReadingLimits()

    @field_validator("words")
    @classmethod
    def _words_are_usable(cls, path: Path | None) -> Path | None:
        vocabulary.load(path)  # a wrong table ends the start, not the first receipt
        return path

    @field_validator("engines")
    @classmethod
    def _must_be_installed(cls, engines: Engines) -> Engines:
        if engines is Engines.BOTH and not is_rapidocr_installed():
            raise ValueError("RapidOCR is missing: install receipt-operator[rapidocr]")
        return engines


class WorkerSettings(RuntimeSettings):
    """What the worker process is told by its environment, beside `ReadingSettings`."""

    source_root: Path = Field(
        default=Path("/data/receipts/raw/scanned/inbox"),
        validation_alias="RECEIPT_SOURCE_ROOT",
        description="The receipts; only read.",
    )
    cache_root: Path = Field(
        default=Path("/data/receipts/derived/ocr-cache"),
        validation_alias="HOME_BUDGET_OCR_CACHE",
        description="Caches, artifacts, markers and locks; written. A missing folder is made, so"
        " mount the volume before the start.",
    )
    artifact_prefix: str = Field(
        default="pvc://receipt-ocr",
        pattern=r"^[a-z][a-z0-9+.\-]*://\S+$",
        validation_alias="OCR_ARTIFACT_URI_PREFIX",
        description="What the cache root is called in artifact URIs.",
    )
    result_schema: Schema = Field(
        default=Schema.EVERY_FIELD,
        validation_alias="RECEIPT_RESULT_SCHEMA",
        description="2 tells collectors every field; 1 the main fields only, for as long as a"
        " collector runs that knows no other.",
    )
    lock_wait: float = Field(
        default=10.0,
        ge=0,
        validation_alias="RECEIPT_LOCK_WAIT",
        description="Seconds to wait for another reader of the same receipt before backing off.",
    )
    service: str = Field(
        default="home-budget-receipt-worker",
        min_length=1,
        validation_alias="OTEL_SERVICE_NAME",
        description="Name of this worker in events.",
    )
    host: str = Field(
        default="",
        validation_alias="HOSTNAME",
        description="Name of this machine in events; without it the system is asked.",
    )
