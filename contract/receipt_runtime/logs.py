"""JSON log lines on standard error, short and discreet.

Exceptions appear as class names and places, never with their text; libraries appear with the
constant part of their message only (promise G8).
"""

import json
import logging
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

MAX_LINE_BYTES = 2048
MAX_VALUE_CHARACTERS = 300
MAX_CAUSES = 4
LIBRARY_LEVEL = logging.WARNING
SILENT = ("pika",)  # writes addresses and bodies; our own lines tell what happens to connections

_RESERVED = ("timestamp", "level", "logger", "service", "message")


def configure(service: str, *, level: str = "INFO") -> None:
    """Send our log lines and those of libraries to standard error; call once, in `main`.

    What nobody catches becomes a line as well: Python's own report would print its text.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _only_template],
            use_get_message=False,
            pass_foreign_args=True,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _Service(service),
                _discreet_failure,
                structlog.processors.EventRenamer("message"),
                _short_values,
                structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else _bounded_json,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(LIBRARY_LEVEL)
    for package in _own_packages():
        logging.getLogger(package).setLevel(level)
    for library in SILENT:
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    sys.excepthook = _report_end
    threading.excepthook = _report_thread_end


def trail(error: BaseException) -> str:
    """Classes and places of an exception and its causes, without their texts."""
    steps: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(steps) < MAX_CAUSES:
        steps.append(f"{type(seen).__qualname__} at {_place(seen)}")
        seen = seen.__cause__ or seen.__context__
    return " < ".join(steps)


def _report_end(
    _kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    structlog.get_logger(__name__).critical("the program ended on an error", failure=trail(error))


def _report_thread_end(ended: threading.ExceptHookArgs) -> None:
    structlog.get_logger(__name__).critical(
        "a thread ended on an error",
        thread=ended.thread.name if ended.thread else None,
        failure=trail(ended.exc_value) if ended.exc_value else None,
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "?"
    last = frames[-1]
    return f"{Path(last.filename).stem}:{last.lineno}"


def _own_packages() -> tuple[str, ...]:
    return tuple(
        f"receipt_{part}"
        for part in ("contract", "runtime", "operator", "worker", "collector", "cli")
    )


class _Service:
    """Adds which program speaks."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["service"] = self._service
        return event


def _only_template(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace a library's message by its template, which is a constant of its source.

    Without arguments the message may have been formatted already, so only its place remains.
    """
    record: logging.LogRecord = event["_record"]
    if not event.pop("positional_args", None):
        event["event"] = "A library reported a problem."
    event["at"] = f"{record.module}:{record.lineno}"
    return event


def _discreet_failure(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    raised = event.pop("exc_info", None)
    event.pop("stack_info", None)
    if raised is True:
        raised = sys.exc_info()
    if isinstance(raised, tuple):
        raised = raised[1]
    if isinstance(raised, BaseException):
        event["failure"] = trail(raised)
    return event


def _short_values(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: _short(value) for key, value in event.items()}


def _short(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"


def _bounded_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    """Write one line; over the limit the context goes first, the message last."""
    line = json.dumps(event)
    if len(line) <= MAX_LINE_BYTES:
        return line
    kept = {key: event[key] for key in _RESERVED if key in event}
    return json.dumps({**kept, "shortened": True})
