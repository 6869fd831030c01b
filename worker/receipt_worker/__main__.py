"""`receipt-worker`: work messages from the broker, OCR, result events back."""

import sys

from receipt_contract.errors import OutageError
from receipt_runtime import logs, shutdown
from receipt_runtime.settings import SettingsError, answer_help, read
from receipt_worker.consume import consume
from receipt_worker.settings import ReadingSettings, WorkerSettings

SERVICE = "receipt-worker"
EXIT_UNUSABLE = 1  # a person has to change something first


def main() -> int:
    """Answer `--help`, or run; the entry point of the program itself."""
    answer_help(
        SERVICE,
        "Reads receipts: work messages in, result events out.",
        WorkerSettings,
        ReadingSettings,
    )
    return run()


def run() -> int:
    """Run until a signal; the exit status is 1 when settings or folders cannot be used."""
    try:
        settings = read(WorkerSettings)
        logs.configure(SERVICE, level=settings.log_level)
        consume(settings, read(ReadingSettings), shutdown.on_signals())
    except (SettingsError, OutageError) as error:
        print(f"{SERVICE}: {error}", file=sys.stderr)  # noqa: T201 - speaks to whoever starts it
        return EXIT_UNUSABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
