"""Names below the cache root, as the worker writes them and others look for them. Pure."""

# The worker leaves it at the root. Where it is missing the volume is not the one with the cache.
ROOT_MARK = ".ocr-cache"


def current(reference: str) -> str:
    """Path of a receipt's cache file below the cache root."""
    return f"{reference}.json"


def legacy(sha256: str) -> str:
    """Path under which an earlier layout kept it; such a file still counts."""
    return f"{sha256}.json"
