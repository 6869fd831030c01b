"""The command line's surface: quick, quiet about values, clear about mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from receipt_cli.output import ExitCode
from tests.support import ledger

HEAVY = ("pydantic", "psycopg", "pika", "PIL", "structlog", "rich.table")


def test_asking_for_help_imports_no_component() -> None:
    code = "import sys, receipt_cli.__main__; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert [name for name in loaded if name in HEAVY] == []
    assert [name for name in loaded if name.startswith(("receipt_operator", "receipt_wo"))] == []


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="nothing at all"),
        pytest.param(("receipts",), id="half a command"),
        pytest.param(("receipts", "fold"), id="an unknown command"),
        pytest.param(("receipts", "publish"), id="no address"),
        pytest.param(("requests", "show", "7"), id="no id"),
        pytest.param(("receipts", "extract", "x", "--format", "xml"), id="an unknown format"),
    ],
)
def test_a_command_that_is_not_understood_has_its_own_exit_code(arguments: tuple[str, ...]) -> None:
    ran = ledger.run(*arguments)

    assert ran.code == ExitCode.USAGE
    assert "Usage:" in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        pytest.param(
            {"DATABASE_URL": "host=db password=hunter2 nonsense"},
            "DATABASE_URL: a PostgreSQL connection string is wanted.",
            id="a database address that cannot be read",
        ),
        pytest.param(
            {"DATABASE_URL": "postgresql://ada:hunter2@127.0.0.1:1/x"},
            "The database does not answer.",
            id="a database that is not there",
        ),
    ],
)
def test_g8_a_failure_is_one_sentence_without_any_value(
    environment: dict[str, str], sentence: str
) -> None:
    ran = ledger.run("requests", "list", env=environment)

    assert (ran.code, ran.stdout) == (ExitCode.FAILED, "")
    assert sentence in ran.stderr
    assert "hunter2" not in ran.stderr


_WITHOUT_READING = """
import sys
sys.modules.update(dict.fromkeys(("PIL", "numpy", "pypdfium2", "pytesseract")))
sys.argv[0] = "ledger"
from receipt_cli.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        pytest.param(
            ("receipts", "extract", "/"),
            ExitCode.FAILED,
            "lacks pytesseract, as one that reads no receipts may: install",
            id="a command that reads receipts says so",
        ),
        pytest.param(
            ("doctor", "--format", "text"),
            ExitCode.DONE,
            "tesseract: Not looked at: this installation reads no receipts.",
            id="the doctor passes the engine over",
        ),
    ],
)
def test_an_installation_that_reads_no_receipts_says_so(
    arguments: tuple[str, ...], code: ExitCode, sentence: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _WITHOUT_READING, *arguments],
        check=False,
        capture_output=True,
        text=True,
    )

    assert ran.returncode == code
    assert sentence in ran.stdout + ran.stderr


def test_g8_a_broker_address_that_cannot_be_read_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"any content will do")
    environment = {"RABBITMQ_URL": "ht tp://ada:hunter2@broker:port"}

    ran = ledger.run("receipts", "reprocess", "a.png", "--receipt-root", tmp_path, env=environment)

    assert ran.code == ExitCode.FAILED
    assert "RABBITMQ_URL: an address like" in ran.stderr
    assert "hunter2" not in ran.stderr
