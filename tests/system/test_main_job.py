"""The main job with nothing left out: real receipts, Tesseract, broker, database, API server."""

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from receipt_contract.requests import Kind
from tests.support.pipeline import Pipeline, condition_of, holds
from tests.support.receipts import small_receipt, write_small_receipts

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

REPROCESS = Kind.RECEIPT_REPROCESS
REBUILD = Kind.CACHE_REBUILD
SAMPLES = Path(__file__).resolve().parents[2] / "examples/receipts"
BAD = "2024-05/torn-scan.pdf"


@pytest.fixture(scope="module")
def complete(running: Pipeline) -> Pipeline:
    """Give a pipeline with two workers and the sample receipts."""
    shutil.copytree(SAMPLES, running.receipts, dirs_exist_ok=True)
    running.start_worker("worker-1")
    running.start_worker("worker-2")
    return running


def test_receipts_are_read_into_the_database_and_the_bad_one_is_named(complete: Pipeline) -> None:
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))
    bad = {name: one["error"] for name, one in expected.items() if one["error"]}

    complete.apply(REPROCESS, "samples", target={"references": sorted(expected)})
    status = complete.wait_finished(REPROCESS, "samples")

    assert status["state"] == "PartiallyFailed"
    failed = {one["reference"]: one["reason"] for one in status["failures"]["samples"]}
    assert failed == bad
    rows = complete.rows("SELECT source_reference, total FROM budget.receipt_evidence")
    totals = {row["source_reference"]: str(row["total"]) for row in rows}
    clear = {
        name: one["total"] for name, one in expected.items() if one["about"].startswith("a clear")
    }
    assert {name: totals[name] for name in clear} == clear


def test_a_cache_rebuild_reads_again_and_changes_no_extraction(complete: Pipeline) -> None:
    extraction = "SELECT source_sha256, total, updated_at FROM budget.receipt_evidence ORDER BY 1"
    runs = "SELECT count(*) AS n FROM budget.receipt_ocr_runs"
    before, runs_before = complete.rows(extraction), complete.rows(runs)

    complete.apply(REBUILD, "march", target={"selector": {"pathPrefix": "2024-03/"}})
    status = complete.wait_finished(REBUILD, "march")

    assert status["state"] == "Succeeded"
    assert status["progress"]["done"] == status["progress"]["total"] > 0
    assert complete.rows(extraction) == before
    assert complete.rows(runs)[0]["n"] == runs_before[0]["n"] + status["progress"]["done"]


def test_two_references_with_the_same_bytes_are_read_once(complete: Pipeline) -> None:
    content = small_receipt(7000).content
    for name in ("same/one.png", "same/two.png"):
        path = complete.receipts / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    runs = "SELECT count(*) AS n FROM budget.receipt_ocr_runs"
    before = complete.rows(runs)

    complete.apply(REPROCESS, "same", target={"selector": {"pathPrefix": "same/"}})
    status = complete.wait_finished(REPROCESS, "same")

    assert status["progress"]["summary"] == "2/2"
    assert complete.rows(runs)[0]["n"] == before[0]["n"] + 1
    assert (complete.cache / "same/one.png.json").exists()
    assert (complete.cache / "same/two.png.json").exists()


def test_g2_two_requests_for_the_same_receipts_have_one_effect_each_one_after_the_other(
    complete: Pipeline,
) -> None:
    references = ["shared/one.png", "shared/two.png"]
    write_small_receipts(complete.receipts, *references, first=7100)
    names = ["wants-them", "wants-them-too"]

    for name in names:
        complete.apply(REPROCESS, name, target={"references": references})
    for name in names:
        assert complete.wait_finished(REPROCESS, name)["progress"]["summary"] == "2/2"

    runs = complete.rows(
        """
        SELECT source_reference, processed_at AS began,
               processed_at + make_interval(secs => processing_seconds) AS ended
          FROM budget.receipt_ocr_runs WHERE source_reference LIKE 'shared/%'
         ORDER BY source_reference, processed_at
        """
    )
    assert [run["source_reference"] for run in runs] == sorted(2 * references)
    for first, second in (runs[:2], runs[2:]):
        assert first["ended"] <= second["began"]


def test_g7_300_receipts_by_selector_within_the_write_budget(complete: Pipeline) -> None:
    references = [f"bulk/{number:03}.png" for number in range(300)]
    write_small_receipts(complete.receipts, *references, first=8000)

    complete.apply(REPROCESS, "bulk", maxInFlight=30, target={"selector": {"glob": "bulk/*.png"}})
    status = complete.wait_finished(REPROCESS, "bulk", within=600)

    progress = status["progress"]
    assert progress["summary"] == "300/300"
    assert progress["done"] + progress["failed"] + progress["skipped"] == progress["total"]
    assert holds(status, "Succeeded")
    assert condition_of(status, "Published")["reason"] == "Confirmed"
    started, finished = (_seconds(status["run"][name]) for name in ("startTime", "finishTime"))
    writes = complete.status_writes("bulk")
    if writes is not None:
        # One progress write in ten seconds, and the transitions of a request's life.
        assert writes <= (finished - started) / 10 + 8


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
