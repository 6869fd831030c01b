"""What an OCR engine is to us: words out of one page image."""

from typing import TYPE_CHECKING, Protocol

from receipt_worker.extraction.lines import Word

if TYPE_CHECKING:  # settings speak of engines also where no receipt is read
    from PIL import Image


class Engine(Protocol):
    """One engine, set up; `words` raises AttemptError when it fails, never returns half a page."""

    @property
    def name(self) -> str:
        """Name as it stands in pass records."""
        ...

    @property
    def engine_type(self) -> str:
        """Kind of engine as it stands in pass records."""
        ...

    @property
    def psm(self) -> int | None:
        """Tesseract's page segmentation mode."""
        ...

    @property
    def languages(self) -> str | None:
        """Models it was set up with, where there is a choice."""
        ...

    def words(self, image: "Image.Image") -> tuple[Word, ...]:
        """Read one page image."""
        ...
