"""The one base of everything that can go wrong here; the text is written for the person."""


class DevError(Exception):
    """Something on this machine stands in the way."""


class NotInstalledError(DevError):
    """A program is missing; the text says how to get it."""


class StartError(DevError):
    """A service did not become ready; the text ends with what it said last."""
