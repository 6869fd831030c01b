"""Entry point of `ledger`: runs a command and says in one sentence why it failed.

No value, no address and no text of a foreign exception is printed (promise G8).
"""

import sys

from receipt_cli.app import app
from receipt_cli.output import CommandError, ExitCode, say


def main() -> None:
    """Run the command line; ends the process with the command's exit code."""
    try:
        app()
    except CommandError as error:
        say(str(error))
    except Exception as error:  # noqa: BLE001 - the last resort of a program
        say(_sentence(error))
    sys.exit(ExitCode.FAILED)


def _sentence(error: Exception) -> str:
    """Say what our own failures say; of others only the class is safe to show."""
    from receipt_contract.errors import ReceiptError  # noqa: PLC0415 - `--help` needs no contract
    from receipt_runtime.settings import SettingsError  # noqa: PLC0415 - as above

    if isinstance(error, ReceiptError | SettingsError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return (
            f"This installation of ledger lacks {error.name}, as one that reads no receipts may:"
            " install receipt-operator[cli], or take an image of the target cli-ocr."
        )
    return f"An error inside the program: {type(error).__name__}."


if __name__ == "__main__":
    main()
