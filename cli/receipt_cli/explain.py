"""`receipts extract --explain`: where each value was read, what proves it, and what was tried."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from receipt_cli.extract import expand
from receipt_cli.output import CommandError, ExitCode, emit_text
from receipt_runtime.settings import read
from receipt_worker import extract
from receipt_worker.consume import check_engine
from receipt_worker.document import FieldRecord, PassRecord, Reading
from receipt_worker.extract import ExtractedFile
from receipt_worker.reader import Reader
from receipt_worker.settings import ReadingSettings


def run(paths: Sequence[Path], *, image: Path | None) -> ExitCode:
    """Explain every file; with `image`, one file, and a PNG of it."""
    settings = read(ReadingSettings)
    check_engine(settings)
    found = list(expand(paths))
    if image is not None and len(found) != 1:
        raise CommandError(f"--image takes one file, these are {len(found)}.")
    explain_one = extract.extract_file if image is None else extract.draw_file
    read_one = False
    with Reader(settings) as reader:
        for path in found:
            answer = explain_one(
                path,
                reader,
                max_bytes=settings.limits.max_bytes,
                today=datetime.now(UTC).date(),
            )
            for line in _lines(answer):
                emit_text(line)
            if image is not None and answer.picture:
                _write(image, answer.picture)
            read_one = read_one or answer.reading is not None
    return ExitCode.DONE if read_one else ExitCode.FAILED


def _write(image: Path, picture: bytes) -> None:
    try:
        image.write_bytes(picture)
    except OSError as error:
        raise CommandError(f"{image} cannot be written.") from error


def _lines(answer: ExtractedFile) -> Iterator[str]:
    if answer.reading is None:
        yield f"{answer.file}: failed, {answer.error} ({answer.seconds} s)"
        return
    found = answer.reading.extraction
    reasons = ", ".join(found.review_reasons)
    yield f"{answer.file}: {found.status}{f', {reasons}' if reasons else ''} ({answer.seconds} s)"
    for name, field in found.fields.items():
        yield from _field(name, field)
    for record in answer.reading.passes:
        yield _pass(record, answer.reading)


def _field(name: str, field: FieldRecord) -> Iterator[str]:
    proof = ", ".join(field.evidence) or "no evidence"
    yield f"  {name:<22} {field.value}  (confidence {field.confidence}; {proof})"
    if field.raw_text is not None:
        yield f"  {'':<22} page {field.page}, pass {field.pass_id}: {field.raw_text!r}"
    others = [value for value in field.candidates if value != field.value]
    if others:
        yield f"  {'':<22} not taken: {', '.join(others)}"


def _pass(record: PassRecord, reading: Reading) -> str:
    how = f"{record.engine} {record.variant}" + (f" psm {record.psm}" if record.psm else "")
    shown = ", shown" if record.selected_base and len(reading.passes) > 1 else ""
    return (
        f"  pass {record.pass_id}: page {record.page_number}, {how}: {record.line_count} lines,"
        f" {record.seconds} s{shown}"
    )
