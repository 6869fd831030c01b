"""How signals end a process."""

import signal
import subprocess
import sys

import pytest

from receipt_runtime import shutdown

PROGRAM = """
from receipt_runtime import shutdown
asked = shutdown.on_signals()
print("ready", flush=True)
asked.wait()
print("asked", flush=True)
import time
time.sleep({seconds})
"""


def _start(seconds: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(seconds=seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks(number: signal.Signals) -> None:
    with _start(seconds=0) as process:
        process.send_signal(number)

        assert process.communicate(timeout=30)[0] == "asked\n"
        assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_second_signal_does_not_wait(number: signal.Signals) -> None:
    with _start(seconds=600) as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(number)

        assert process.wait(timeout=30) == 128 + number


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        pytest.param(600, shutdown.EXIT_STUCK, id="what would stay for ever ends by force"),
        pytest.param(0, 0, id="what ends by itself is not kept"),
    ],
)
def test_a_process_ends_within_its_time(seconds: int, code: int) -> None:
    program = f"""
from receipt_runtime import shutdown
shutdown.within({0.2 if seconds else 600})
import time
time.sleep({seconds})
"""

    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)

    assert ended.returncode == code
