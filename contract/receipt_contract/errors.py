"""Reasons: every way an item, a message or a process can fail, each with one fixed sentence.

The sentence is what is stored and shown. The text of an exception never is: libraries print
values, rows and addresses into it (promise G8).
"""

from enum import Enum, StrEnum


class FailureClass(Enum):
    """What a failure means for the message in hand."""

    CONTENT = "content"  # the bytes themselves: trying again gives the same end
    PATH = "path"  # the place of the bytes: another delivery of this message cannot help
    MESSAGE = "message"  # the message is not one of ours
    ATTEMPT = "attempt"  # a counted try that failed for the receipt's own sake
    OUTAGE = "outage"  # something around us is away: no try, wait
    DECISION = "decision"  # the request ended the item, or never sent it


class Reason(StrEnum):
    """Reason class of a failure; the value is the code in columns, headers and status."""

    EMPTY_FILE = "empty_file"
    UNSUPPORTED_TYPE = "unsupported_type"
    CORRUPT = "corrupt"
    ENCRYPTED = "encrypted"
    TOO_LARGE = "too_large"
    TOO_MANY_PAGES = "too_many_pages"

    SOURCE_MISSING = "source_missing"
    SOURCE_CHANGED = "source_changed"
    SOURCE_UNREADABLE = "source_unreadable"
    UNSAFE_REFERENCE = "unsafe_reference"

    INVALID_MESSAGE = "invalid_message"
    INVALID_EVENT = "invalid_event"
    NEWER_SCHEMA = "newer_schema"
    RUN_UNKNOWN = "run_unknown"

    TIMEOUT = "timeout"
    KILLED = "killed"
    ENGINE_FAILED = "engine_failed"
    WORKER_CRASHED = "worker_crashed"
    INTERNAL_ERROR = "internal_error"

    BROKER_UNAVAILABLE = "broker_unavailable"
    DATABASE_UNAVAILABLE = "database_unavailable"
    SOURCE_UNAVAILABLE = "source_unavailable"
    CACHE_UNAVAILABLE = "cache_unavailable"
    NO_SPACE = "no_space"
    LOCK_WAIT = "lock_wait"

    NEVER_PROCESSED = "never_processed"
    NO_RESULT = "no_result"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    THRESHOLD = "threshold"
    UNSETTLED = "unsettled"
    DRY_RUN = "dry_run"

    @classmethod
    def read(cls, text: str | None) -> "Reason":
        """Read a stored reason; one of a later version reads as an internal error."""
        return cls(text) if text in set(cls) else cls.INTERNAL_ERROR

    @property
    def sentence(self) -> str:
        """One sentence for people, the same every time."""
        return _SENTENCES[self]

    @property
    def failure_class(self) -> FailureClass:
        """What this reason means for the message in hand."""
        return _CLASSES[self]


class ReceiptError(Exception):
    """A failure with a reason; its text is the reason's sentence and nothing else."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason; details belong to the cause, which is logged by its class name only."""
        super().__init__(reason.sentence)
        self.reason = reason


class PermanentError(ReceiptError):
    """Trying again cannot help: the message goes to the dead exchange at once."""


class AttemptError(ReceiptError):
    """A counted try failed: retry with attempt + 1, dead after the third."""


class OutageError(ReceiptError):
    """Something around us is away: keep the delivery, wait, count nothing."""


_SENTENCES = {
    Reason.EMPTY_FILE: "The file has no bytes.",
    Reason.UNSUPPORTED_TYPE: "The file is no PDF and no image of a supported type.",
    Reason.CORRUPT: "The file is damaged and cannot be opened.",
    Reason.ENCRYPTED: "The file is protected by a password.",
    Reason.TOO_LARGE: "The file or one of its pages is larger than the limits allow.",
    Reason.TOO_MANY_PAGES: "The file has more pages than the limit allows.",
    Reason.SOURCE_MISSING: "No file stands at this reference.",
    Reason.SOURCE_CHANGED: "The file's bytes changed since the work was asked for.",
    Reason.SOURCE_UNREADABLE: "The file is there but may not be read.",
    Reason.UNSAFE_REFERENCE: "The reference leaves the receipts root or is not a plain path.",
    Reason.INVALID_MESSAGE: "The message does not follow the work contract.",
    Reason.INVALID_EVENT: "The event does not follow the result contract.",
    Reason.NEWER_SCHEMA: "The event is of a newer schema: upgrade the collector first.",
    Reason.RUN_UNKNOWN: "The event speaks of a run that was never recorded.",
    Reason.TIMEOUT: "Reading took longer than the deadline allows.",
    Reason.KILLED: "The reading process was killed, most often for memory.",
    Reason.ENGINE_FAILED: "The OCR engine stopped with an error.",
    Reason.WORKER_CRASHED: "The worker ended several times while it read this receipt.",
    Reason.INTERNAL_ERROR: "An error inside the program; its log names the class.",
    Reason.BROKER_UNAVAILABLE: "The message broker does not answer.",
    Reason.DATABASE_UNAVAILABLE: "The database does not answer.",
    Reason.SOURCE_UNAVAILABLE: "The receipts root is absent, unreadable or empty.",
    Reason.CACHE_UNAVAILABLE: "The cache root is absent or not writable.",
    Reason.NO_SPACE: "The disk is full.",
    Reason.LOCK_WAIT: "Another reader holds this receipt.",
    Reason.NEVER_PROCESSED: "The receipt has no saved extraction yet, so its cache is not rebuilt.",
    Reason.NO_RESULT: "The work was sent several times and no result came back.",
    Reason.CANCELLED: "The request was cancelled.",
    Reason.DEADLINE: "The request reached its deadline.",
    Reason.THRESHOLD: "The request ended early: too many of its receipts failed.",
    Reason.UNSETTLED: "The request ended while this receipt was still being read.",
    Reason.DRY_RUN: "A dry run counts and sends nothing.",
}

_CLASSES = {
    **dict.fromkeys(
        (
            Reason.EMPTY_FILE,
            Reason.UNSUPPORTED_TYPE,
            Reason.CORRUPT,
            Reason.ENCRYPTED,
            Reason.TOO_LARGE,
            Reason.TOO_MANY_PAGES,
        ),
        FailureClass.CONTENT,
    ),
    **dict.fromkeys(
        (
            Reason.SOURCE_MISSING,
            Reason.SOURCE_CHANGED,
            Reason.SOURCE_UNREADABLE,
            Reason.UNSAFE_REFERENCE,
        ),
        FailureClass.PATH,
    ),
    **dict.fromkeys(
        (Reason.INVALID_MESSAGE, Reason.INVALID_EVENT, Reason.NEWER_SCHEMA, Reason.RUN_UNKNOWN),
        FailureClass.MESSAGE,
    ),
    **dict.fromkeys(
        (
            Reason.TIMEOUT,
            Reason.KILLED,
            Reason.ENGINE_FAILED,
            Reason.WORKER_CRASHED,
            Reason.INTERNAL_ERROR,
        ),
        FailureClass.ATTEMPT,
    ),
    **dict.fromkeys(
        (
            Reason.BROKER_UNAVAILABLE,
            Reason.DATABASE_UNAVAILABLE,
            Reason.SOURCE_UNAVAILABLE,
            Reason.CACHE_UNAVAILABLE,
            Reason.NO_SPACE,
            Reason.LOCK_WAIT,
        ),
        FailureClass.OUTAGE,
    ),
    **dict.fromkeys(
        (
            Reason.NEVER_PROCESSED,
            Reason.NO_RESULT,
            Reason.CANCELLED,
            Reason.DEADLINE,
            Reason.THRESHOLD,
            Reason.UNSETTLED,
            Reason.DRY_RUN,
        ),
        FailureClass.DECISION,
    ),
}
