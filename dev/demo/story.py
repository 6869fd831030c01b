"""The demo's story, scene by scene; each says what it expects and stops where it is not so."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from rich import box
from rich.console import Console
from rich.table import Table

from dev import samples
from dev.demo import shell, watch
from dev.demo.errors import DemoError
from dev.demo.product import NAMESPACE, Product
from dev.kubernetes.cluster import Cluster
from receipt_contract.requests import API_VERSION, Kind

GOOD = tuple(sample.reference for sample in samples.SAMPLES if sample.error is None)
DAMAGED = "2024-05/damaged-scan.jpg"
MISSING = "2024-05/never-scanned.pdf"
REBUILT_FOLDER = "2024-04/"
TABLE_WIDTH = 100


class Story:
    """One showing, under a runId of its own."""

    def __init__(self, product: Product, cluster: Cluster, *, run_id: str) -> None:
        """Begin with nothing asked for."""
        self._product = product
        self._cluster = cluster
        self._run_id = run_id

    def tell(self) -> None:
        """Show everything; raises DemoError where something is not as expected."""
        self._read_all()
        self._rebuild_caches()
        self._meet_bad_files()
        self._show_receipts()
        self._apply_again()

    def _read_all(self) -> None:
        shell.heading(f"Read {len(GOOD)} receipts: kind ReceiptReprocess")
        status = self._ask(Kind.RECEIPT_REPROCESS, "all-samples", {"references": sorted(GOOD)})
        _expect(status, state="Succeeded", done=len(GOOD), failed=0)

    def _rebuild_caches(self) -> None:
        shell.heading(f"Rebuild the OCR cache below {REBUILT_FOLDER}: kind CacheRebuild")
        status = self._ask(
            Kind.CACHE_REBUILD, "april-cache", {"selector": {"pathPrefix": REBUILT_FOLDER}}
        )
        expected = sum(reference.startswith(REBUILT_FOLDER) for reference in GOOD)
        _expect(status, state="Succeeded", done=expected, failed=0)

    def _meet_bad_files(self) -> None:
        shell.heading("Ask for a damaged file, a missing one and a good one")
        wanted = [GOOD[0], DAMAGED, MISSING]
        status = self._ask(Kind.RECEIPT_REPROCESS, "with-bad-files", {"references": wanted})
        _expect(status, state="PartiallyFailed", done=1, failed=2)
        reasons = {}
        for sample in status["failures"]["samples"]:
            shell.tell(f"  {sample['reference']}: {sample['reason']} - {sample['message']}")
            reasons[sample["reference"]] = sample["reason"]
        if reasons != {DAMAGED: "corrupt", MISSING: "source_missing"}:
            raise DemoError(f"other failures than expected: {reasons}")

    def _show_receipts(self) -> None:
        shell.heading("What PostgreSQL holds now")
        shell.tell("$ ledger receipts export")
        lines = shell.ask_ledger(self._product.environment, "receipts", "export").splitlines()
        present = self._product.hashes()
        saved = [one for one in map(json.loads, lines) if one["source_sha256"] in present]
        Console(width=TABLE_WIDTH).print(_table(saved))
        _check(saved)

    def _apply_again(self) -> None:
        shell.heading("Apply the first manifest again, then delete it and create it anew")
        before = self._product.sent()
        path = str(self._product.manifests / "all-samples.yaml")
        where = ("--namespace", NAMESPACE, "--filename", path)
        shell.kubectl(self._cluster, "apply", *where)
        shell.kubectl(self._cluster, "delete", *where)
        shell.kubectl(self._cluster, "create", *where)
        status = self._watch(Kind.RECEIPT_REPROCESS, "all-samples")
        _expect(status, state="Succeeded", done=len(GOOD), failed=0)
        after = self._product.sent()
        shell.tell(f"Work messages sent by the operator: {before} before, {after} after.")
        if before == 0 or after != before:
            raise DemoError(f"re-applying sent messages: {before} before, {after} after")

    def _ask(self, kind: Kind, name: str, target: Mapping[str, Any]) -> dict[str, Any]:
        """Write and apply a manifest, and watch it to its end."""
        path = self._product.manifests / f"{name}.yaml"
        document = {
            "apiVersion": API_VERSION,
            "kind": kind.value,
            "metadata": {"name": name},
            "spec": {"runId": self._run_id, "target": dict(target)},
        }
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        shell.kubectl(self._cluster, "apply", "--namespace", NAMESPACE, "--filename", str(path))
        return self._watch(kind, name)

    def _watch(self, kind: Kind, name: str) -> dict[str, Any]:
        shell.tell(f"$ kubectl get --namespace {NAMESPACE} {kind.short_name} {name} --watch")
        return watch.until_finished(
            self._cluster, kind.short_name, name, namespace=NAMESPACE, run_id=self._run_id
        )


def _expect(status: Mapping[str, Any], *, state: str, done: int, failed: int) -> None:
    progress = status.get("progress", {})
    found = (status.get("state"), progress.get("done"), progress.get("failed"))
    if found != (state, done, failed):
        raise DemoError(f"expected {(state, done, failed)} as state, done, failed; found {found}")


def _check(saved: Sequence[Mapping[str, Any]]) -> None:
    """Every good sample is saved, and what claims to be proven is right."""
    found = {receipt["source_reference"]: receipt for receipt in saved}
    if absent := set(GOOD) - found.keys():
        raise DemoError(f"not saved: {sorted(absent)}")
    wrong = {
        sample.reference: found[sample.reference]["total"]
        for sample in samples.SAMPLES
        if sample.error is None
        and found[sample.reference]["extraction_status"] == "complete"
        and found[sample.reference]["total"] != str(sample.sale.total)
    }
    if wrong:
        raise DemoError(f"wrong totals: {wrong}")


def _table(saved: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for title in ("receipt", "merchant", "date"):
        table.add_column(title)
    table.add_column("total", justify="right")
    for title in ("card", "status"):
        table.add_column(title)
    for receipt in saved:
        table.add_row(
            receipt["source_reference"],
            receipt["merchant_name"] or "-",
            receipt["transaction_date"] or "-",
            receipt["total"] or "-",
            receipt["card_last4"] or "-",
            receipt["extraction_status"],
        )
    return table
