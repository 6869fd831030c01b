"""Which engines read: Tesseract always, RapidOCR beside it where its extra is installed."""

import importlib.util
from enum import StrEnum

from receipt_worker.engines.base import Engine

_PACKAGES = ("rapidocr", "onnxruntime")


class Engines(StrEnum):
    """The choice that a setting makes."""

    AUTO = "auto"  # RapidOCR too where it is installed
    TESSERACT = "tesseract"
    BOTH = "tesseract+rapidocr"


def is_rapidocr_installed() -> bool:
    """Whether the extra is there; nothing is imported."""
    return all(importlib.util.find_spec(package) for package in _PACKAGES)


def second_engine(engines: Engines, *, timeout: float) -> Engine | None:
    """Give the engine that reads beside Tesseract, if there is one; see there for `timeout`.

    Raises AttemptError(ENGINE_FAILED) when it cannot be loaded.
    """
    if engines is Engines.TESSERACT or not is_rapidocr_installed():
        return None
    from receipt_worker.engines.rapidocr import RapidOcr  # noqa: PLC0415 - an extra, slow to import

    return RapidOcr(timeout=timeout)
