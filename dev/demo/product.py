"""Our own programs on the demo's services: one operator, two workers, one collector.

They are started anew each time, so that they run the code as it is now; services are reused.
"""

import shutil
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dev import folders, postgres, program, samples
from dev.demo import shell
from dev.kubernetes import kubectl
from dev.program import Program
from dev.stack import Stack
from receipt_runtime import files

NAMESPACE = "receipts"
CLUSTER = "demo"
WORKERS = ("worker-1", "worker-2")

CRDS = folders.CHECKOUT / "crds"


class Product:
    """The product's places and programs below the demo's folder."""

    def __init__(self, stack: Stack) -> None:
        """Nothing is made or started yet."""
        self._stack = stack
        self._cluster = stack.cluster
        folder = stack.folder / "product"
        self.root = folder / "receipts"
        self.cache = folder / "ocr-cache"
        self.manifests = folder / "manifests"
        self.environment_file = folder / "demo.env"
        self._programs: dict[str, Program] = {}

    @property
    def environment(self) -> dict[str, str]:
        """What a person at the command line needs to look further."""
        return {
            "KUBECONFIG": str(self._cluster.kubeconfig()),
            "RABBITMQ_URL": self._stack.rabbitmq.url(NAMESPACE),
            "DATABASE_URL": self._stack.postgres.url(NAMESPACE),
            "RECEIPT_SOURCE_ROOT": str(self.root),
            "HOME_BUDGET_OCR_CACHE": str(self.cache),
        }

    def prepare(self) -> None:
        """Make folders, virtual host, database, queues, definitions and the namespace."""
        for folder in (self.root, self.cache, self.manifests):
            folder.mkdir(parents=True, exist_ok=True)
        for sample in samples.SAMPLES:
            target = self.root / sample.reference
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(samples.FOLDER / sample.reference, target)
        self._stack.rabbitmq.api.create_vhost(NAMESPACE)
        postgres.ensure_database(self._stack.postgres.url(), NAMESPACE)
        self._write_environment()
        shell.ledger(self.environment, "database", "setup")
        shell.ledger(self.environment, "topology", "declare")
        shell.kubectl(self._cluster, "apply", "--filename", str(CRDS))
        self._cluster.kubectl(
            "wait", "--for=condition=Established", "--timeout=60s", "--filename", str(CRDS)
        )
        self._make_namespace()

    def start(self) -> None:
        """Start our programs and wait until each says that it is ready."""
        common = self.environment
        operator = {
            "KUBECONFIG": str(self._cluster.operator_kubeconfig(NAMESPACE)),
            "RECEIPTS_CLUSTER": CLUSTER,
            "RECEIPTS_NAMESPACES": NAMESPACE,
            "RECEIPTS_MISSING_GRACE_SECONDS": "2",  # no network volume here shows files late
        }
        programs = {
            "operator": ("receipt_operator", {**common, **operator}),
            "collector": ("receipt_collector", common),
            **dict.fromkeys(WORKERS, ("receipt_worker", common)),
        }
        with ThreadPoolExecutor() as pool:  # each start is mostly waiting
            starts = {name: pool.submit(self._start, name, *programs[name]) for name in programs}
        self._programs = {name: start.result() for name, start in starts.items()}

    def hashes(self) -> set[str]:
        """Return the content hashes of the receipts as they lie there now."""
        references = (sample.reference for sample in samples.SAMPLES)
        return {files.hash_source(self.root, reference) for reference in references}

    def sent(self) -> int:
        """Count the work messages that the broker confirmed to the running operator."""
        sample = 'receipts_published_total{outcome="published",publisher="operator"}'
        return int(self._programs["operator"].metrics().get(sample, 0))

    def logs(self) -> list[Path]:
        """Return the logs that our programs have written, the operator's first."""
        if not self._stack.folder.exists():  # nothing was started, or it was ended again
            return []
        logs = (self._stack.daemon(name).log for name in ("operator", *WORKERS, "collector"))
        return [log for log in logs if log.exists()]

    def _start(self, name: str, module: str, settings: Mapping[str, str]) -> Program:
        return program.start(self._stack.daemon(name), module, settings)

    def _make_namespace(self) -> None:
        found = self._cluster.kubectl("get", "namespace", NAMESPACE, "--ignore-not-found")
        if not found:
            self._cluster.kubectl("create", "namespace", NAMESPACE)

    def _write_environment(self) -> None:
        """Write a file to be sourced; it holds passwords, so it is ours alone."""
        lines = [f"export {name}={value!r}\n" for name, value in self.environment.items()]
        places = f"{Path(sys.executable).parent}:{kubectl.find().parent}"  # ledger, kubectl
        lines.append(f'export PATH="{places}:$PATH"\n')
        self.environment_file.touch(mode=0o600)
        self.environment_file.write_text("".join(lines), encoding="utf-8")
