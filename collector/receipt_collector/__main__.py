"""`receipt-collector`: result events and dead letters from the broker into PostgreSQL."""

import sys

from receipt_collector.collect import collect
from receipt_collector.schema import SchemaError
from receipt_collector.settings import CollectorSettings
from receipt_runtime import logs, shutdown
from receipt_runtime.settings import SettingsError, answer_help, read

SERVICE = "receipt-collector"
EXIT_UNUSABLE = 1  # a person has to change something first


def main() -> int:
    """Answer `--help`, or run; the entry point of the program itself."""
    answer_help(SERVICE, "Saves result events and dead letters in PostgreSQL.", CollectorSettings)
    return run()


def run() -> int:
    """Run until a signal; the exit status is 1 when settings or schema cannot be used."""
    try:
        settings = read(CollectorSettings)
        logs.configure(SERVICE, level=settings.log_level)
        collect(settings, shutdown.on_signals())
    except (SettingsError, SchemaError) as error:
        print(f"{SERVICE}: {error}", file=sys.stderr)  # noqa: T201 - speaks to whoever starts it
        return EXIT_UNUSABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
