"""What can go wrong in a demo beyond its services."""

from dev.errors import DevError


class DemoError(DevError):
    """Something did not come out as it should; the text says what, and which log to read."""
