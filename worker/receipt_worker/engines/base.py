"""What an OCR engine is to us: words out of one page image."""

from typing import Protocol

from PIL import Image

from receipt_worker.extraction.lines import Word


class Engine(Protocol):
    """One engine; `words` raises AttemptError when the engine fails, never returns half a page."""

    @property
    def name(self) -> str:
        """Name as it stands in pass records."""
        ...

    @property
    def engine_type(self) -> str:
        """Kind of engine as it stands in pass records."""
        ...

    def words(self, image: Image.Image, *, psm: int) -> tuple[Word, ...]:
        """Read one page image; `psm` is Tesseract's page segmentation mode."""
        ...
