"""Tesseract through pytesseract: one call of the program for each pass.

The only module that imports pytesseract. The program runs in the reading child's process group, so
killing that group ends it too; files for it go to the child's own temporary folder.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytesseract
from PIL import Image

from receipt_contract.errors import AttemptError, OutageError, Reason, ReceiptError
from receipt_worker.extraction.lines import Box, Word

# One thread a call: parallel workers are several times faster than parallel threads in one.
os.environ["OMP_THREAD_LIMIT"] = "1"

_ENDED_BY = {int(signal.SIGKILL): Reason.KILLED, int(signal.SIGXCPU): Reason.TIMEOUT}
_BROKEN = (pytesseract.TesseractNotFoundError, subprocess.SubprocessError, OSError)

LEAST_FREE_BYTES = 1024 * 1024  # a table of words needs less
WORD_LEVEL = 5  # `level` of a word row in Tesseract's table


class Tesseract:
    """The installed program with its languages.

    `psm` is its page segmentation mode: 4 a column of lines of any size, 6 one block of
    lines, 11 words wherever they are. `only` are the marks it may give, where they are few.
    """

    name = "tesseract"
    engine_type = "traditional_ocr"

    def __init__(self, *, languages: str, psm: int, only: str = "") -> None:
        self.languages = languages
        self.psm = psm
        self._config = f"--psm {psm} -c tessedit_do_invert=0"
        if only:
            self._config += f" -c tessedit_char_whitelist={only}"

    def words(self, image: Image.Image) -> tuple[Word, ...]:
        """Read one image.

        Raises AttemptError: ENGINE_FAILED, KILLED, or TIMEOUT when it computed as long as this
        process lets its programs; OutageError(NO_SPACE); OSError when the image cannot be written.
        """
        with tempfile.TemporaryDirectory(prefix="pass-") as folder:
            picture = Path(folder) / "page.ppm"
            image.save(picture)  # uncompressed: compressing costs more than it saves
            return _table_words(self._table(str(picture)))

    def _table(self, picture: str) -> dict[str, list[Any]]:
        try:
            table: dict[str, list[Any]] = pytesseract.image_to_data(
                picture,
                lang=self.languages,
                config=self._config,
                output_type=pytesseract.Output.DICT,
            )
        except pytesseract.TesseractError as error:
            raise _failure(_ENDED_BY.get(-error.status, Reason.ENGINE_FAILED)) from error
        except _BROKEN as error:
            raise _failure(Reason.ENGINE_FAILED) from error
        return table


def _failure(reason: Reason) -> ReceiptError:
    """Blame the disk when it is full: the program writes its table to it."""
    if shutil.disk_usage(tempfile.gettempdir()).free < LEAST_FREE_BYTES:
        return OutageError(Reason.NO_SPACE)
    return AttemptError(reason)


def version() -> str:
    """Version of the installed program; raises AttemptError(ENGINE_FAILED) without one.

    Asked once, it is remembered: pytesseract would ask before each first pass of a process.
    """
    try:
        return str(pytesseract.get_tesseract_version())
    except (*_BROKEN, SystemExit) as error:
        raise AttemptError(Reason.ENGINE_FAILED) from error


def installed_languages() -> frozenset[str]:
    """Languages with a model on this machine; raises AttemptError(ENGINE_FAILED)."""
    try:
        return frozenset(pytesseract.get_languages(config=""))
    except (*_BROKEN, pytesseract.TesseractError) as error:
        raise AttemptError(Reason.ENGINE_FAILED) from error


def _table_words(table: dict[str, list[Any]]) -> tuple[Word, ...]:
    columns = ("level", "text", "conf", "left", "top", "width", "height")
    return tuple(
        Word(text.strip(), float(confidence), Box(left, top, width, height))
        for level, text, confidence, left, top, width, height in zip(
            *(table[column] for column in columns), strict=True
        )
        if level == WORD_LEVEL and str(text).strip() and width > 0 and height > 0
    )
