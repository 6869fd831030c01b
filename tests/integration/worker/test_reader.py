"""The reading process: what a receipt can do to it, and that nothing of it stays behind."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from dev import paper
from receipt_contract.errors import (
    AttemptError,
    OutageError,
    PermanentError,
    Reason,
    ReceiptError,
)
from receipt_worker import workspace
from receipt_worker.engines.choice import Engines
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings
from tests.integration.worker.processes import (
    family,
    is_reader,
    named,
    pictures,
    reading_children,
    reading_processes,
    working_on,
)
from tests.integration.worker.volume import small_disk
from tests.support.amqp import eventually
from tests.support.receipts import small_receipt

TODAY = date(2026, 3, 1)
NOISE_SIDE = 3200  # pixels; Tesseract is busy with it for many seconds
SHORT_DEADLINE = 10.0  # seconds
LARGE_SIDE = 6300  # pixels, just within the limits
LARGE_FILE, FEW = 8_000_000, 20  # bytes, and how often a file of that size is sent
LEAST_MEMORY = 512 * 1024 * 1024  # bytes, the least a setting may allow


def noise(side: int = NOISE_SIDE) -> bytes:
    """Return a picture that keeps an engine busy."""
    pixels = random.Random(1).randbytes(side * side // 8)  # noqa: S311 - a picture
    stream = BytesIO()
    Image.frombytes("1", (side, side), pixels).save(stream, "BMP")
    return stream.getvalue()


def settings(folder: Path, **changes: object) -> ReadingSettings:
    """Return settings that keep page images in `folder`; one engine, which starts at once."""
    own = {"RECEIPT_OCR_WORK_FOLDER": folder, "RECEIPT_OCR_ENGINES": Engines.TESSERACT}
    return ReadingSettings.model_validate({**own, **changes})


@contextmanager
def trying(reader: Reader, data: bytes) -> Iterator[list[ReceiptError]]:
    """Read on another thread; the list holds the failure when the block has ended."""
    failures: list[ReceiptError] = []

    def read() -> None:
        try:
            reader.read(data, today=TODAY)
        except ReceiptError as failure:
            failures.append(failure)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield failures
    finally:
        thread.join()


def test_a_deadline_ends_the_engine_too_and_leaves_no_picture(tmp_path: Path) -> None:
    with Reader(settings(tmp_path, RECEIPT_OCR_DEADLINE=SHORT_DEADLINE)) as reader:
        with trying(reader, noise()) as failures:
            eventually(lambda: working_on(tmp_path))
            for process in working_on(tmp_path):
                os.kill(int(process.name), signal.SIGSTOP)  # an engine that hangs

        assert [failure.reason for failure in failures] == [Reason.TIMEOUT]
        assert not working_on(tmp_path)
        assert not pictures(tmp_path)


@pytest.mark.parametrize(
    "victim",
    [
        pytest.param("engine", id="the engine"),
        pytest.param("child", id="the child that reads"),
        pytest.param("warm", id="the process that forks it"),
    ],
)
def test_a_killed_reader_is_a_counted_try_and_the_next_receipt_is_read(
    tmp_path: Path, victim: str
) -> None:
    with Reader(settings(tmp_path)) as reader:
        with trying(reader, noise()) as failures:
            eventually(lambda: reading_children() and named("tesseract"))
            children = reading_children()
            for pid in victims(victim):
                os.kill(pid, signal.SIGKILL)
            eventually(lambda: not any(map(is_reader, children)))

        assert [failure.reason for failure in failures] == [Reason.KILLED]
        assert reader.read(small_receipt().content, today=TODAY).extraction.total is not None


def test_an_engine_that_computes_too_long_is_ended_long_before_the_deadline(
    tmp_path: Path,
) -> None:
    with (
        Reader(settings(tmp_path, RECEIPT_OCR_PASS_TIMEOUT=1)) as reader,
        pytest.raises(AttemptError) as failure,
    ):
        reader.read(noise(NOISE_SIDE // 2), today=TODAY)

    assert failure.value.reason is Reason.TIMEOUT


def test_a_limit_of_programs_does_not_end_the_process_that_starts_them() -> None:
    program = (
        "import subprocess, time\n"
        "from receipt_worker import reader_process\n"
        "reader_process.limit_programs(1)\n"
        "while time.process_time() < 1.5: pass\n"
        "subprocess.run(['tesseract', '--version'], check=True)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert done.returncode == 0, done.stderr


def test_too_little_memory_is_a_counted_try(tmp_path: Path) -> None:
    large = paper.as_png(Image.new("RGBA", (LARGE_SIDE, LARGE_SIDE), "white"))
    with (
        Reader(settings(tmp_path, RECEIPT_OCR_MEMORY=LEAST_MEMORY)) as reader,
        pytest.raises(AttemptError) as failure,
    ):
        reader.read(large, today=TODAY)

    assert failure.value.reason is Reason.KILLED


def test_no_engine_is_a_counted_try_and_never_an_unreadable_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with Reader(settings(tmp_path / "work")) as reader, pytest.raises(AttemptError) as failure:
        reader.read(small_receipt().content, today=TODAY)

    assert failure.value.reason is Reason.ENGINE_FAILED


def test_an_unknown_language_is_a_counted_try(tmp_path: Path) -> None:
    with (
        Reader(settings(tmp_path, RECEIPT_OCR_LANGUAGES="xyz")) as reader,
        pytest.raises(AttemptError) as failure,
    ):
        reader.read(small_receipt().content, today=TODAY)

    assert failure.value.reason is Reason.ENGINE_FAILED


@pytest.mark.parametrize(
    "free_bytes",
    [
        pytest.param(20_000, id="too small for the picture"),
        pytest.param(200_000, id="too small for the engine's table"),
    ],
)
def test_a_full_work_folder_is_an_outage(tmp_path: Path, free_bytes: int) -> None:
    with (
        small_disk(tmp_path, free_bytes),
        Reader(settings(tmp_path)) as reader,
        pytest.raises(OutageError) as failure,
    ):
        reader.read(small_receipt().content, today=TODAY)

    assert failure.value.reason is Reason.NO_SPACE


def test_a_reader_leaves_no_file_and_no_process(tmp_path: Path) -> None:
    with Reader(settings(tmp_path)) as reader:
        reader.read(small_receipt().content, today=TODAY)

    assert not list(tmp_path.iterdir())
    assert not reading_processes()


def test_many_files_leave_the_reading_process_as_it_was(tmp_path: Path) -> None:
    with Reader(settings(tmp_path)) as reader:
        refused(reader)
        [warm] = reading_processes()
        files, memory = open_files(warm), resident(warm)
        for _ in range(FEW):
            refused(reader)

        assert open_files(warm) == files
        assert resident(warm) < memory + FEW * LARGE_FILE / 2


def refused(reader: Reader) -> None:
    """Have a large file looked at that is no receipt."""
    with pytest.raises(PermanentError):
        reader.read(bytes(LARGE_FILE), today=TODAY)


def open_files(pid: int) -> int:
    """Count what a process holds open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident(pid: int) -> int:
    """Return the memory of a process in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_the_next_start_sweeps_what_a_killed_worker_left(tmp_path: Path) -> None:
    left = "import sys, os\nfrom pathlib import Path\nfrom receipt_worker import workspace\n"
    left += "with workspace.own_folder(Path(sys.argv[1])) as f:\n"
    left += " (f / 'page.ppm').touch(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", left, str(tmp_path)], check=False)
    assert list(tmp_path.glob("*/page.ppm"))

    with workspace.own_folder(tmp_path) as own:
        assert list(tmp_path.iterdir()) == [own]


def test_a_folder_in_use_survives_another_start(tmp_path: Path) -> None:
    with workspace.own_folder(tmp_path) as first, workspace.own_folder(tmp_path) as second:
        assert sorted(tmp_path.iterdir()) == sorted([first, second])


def test_a_dead_worker_takes_its_reading_along(tmp_path: Path) -> None:
    picture = tmp_path / "noise.bmp"
    picture.write_bytes(noise())
    program = (
        "import sys\nfrom datetime import date\nfrom pathlib import Path\n"
        "from receipt_worker.reader import Reader\n"
        "from receipt_worker.settings import ReadingSettings\n"
        "with Reader(ReadingSettings()) as r:\n"
        " r.read(Path(sys.argv[1]).read_bytes(), today=date(2026, 3, 1))\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", program, str(picture)],
        env={**os.environ, "RECEIPT_OCR_WORK_FOLDER": str(tmp_path / "work")},
    )
    eventually(lambda: reading_children(worker.pid) and named("tesseract"))
    started = family(worker.pid)

    worker.kill()
    worker.wait()

    eventually(lambda: not [pid for pid in started if Path(f"/proc/{pid}").exists()])
    assert not working_on(tmp_path)


def victims(kind: str) -> list[int]:
    """Return the processes of a kind."""
    return {"engine": named("tesseract"), "child": reading_children(), "warm": reading_processes()}[
        kind
    ]
