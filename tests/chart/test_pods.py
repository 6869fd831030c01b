"""Every pod of the release: hardened, bounded, and told what its program expects."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from receipt_cli.app import app
from receipt_collector.settings import CollectorSettings
from receipt_operator.settings import OperatorSettings
from receipt_runtime.settings import TopologySettings, described
from receipt_worker.settings import ReadingSettings, WorkerSettings
from tests.chart import rendering
from tests.chart.rendering import CASES, DEFAULT, EVERYTHING, Object

PROGRAMS = {
    "operator": (OperatorSettings,),
    "worker": (WorkerSettings, ReadingSettings),
    "collector": (CollectorSettings,),
}
# Read by libraries: OpenSSL, libpq and Tesseract.
FOREIGN = {"SSL_CERT_FILE", "PGSSLMODE", "PGSSLROOTCERT", "OMP_THREAD_LIMIT"}
# What commands of `ledger` read.
LEDGER = {"RABBITMQ_URL", "DATABASE_URL", "RECEIPT_SOURCE_ROOT", "HOME_BUDGET_OCR_CACHE"}
# Volume types of the restricted profile.
VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral"),
    *("persistentVolumeClaim", "projected", "secret"),
}
DATABASE_USERS = {"operator", "collector", "publisher", "prune", "migrations", "doctor"}


def _breaches(pod: Object) -> list[str]:
    """Say where a pod leaves the restricted profile, as the Kubernetes documentation has it."""
    of_pod = pod["securityContext"]
    found = [
        *(name for name in ("hostNetwork", "hostPID", "hostIPC") if pod.get(name)),
        *(f"volume {one}" for one in pod.get("volumes", []) if not set(one) - {"name"} <= VOLUMES),
    ]
    for container in [*pod["containers"], *pod.get("initContainers", [])]:
        own = container["securityContext"]
        facts = {
            "runAsNonRoot": of_pod.get("runAsNonRoot") is True,
            "runAsUser": isinstance(of_pod.get("runAsUser"), int) and of_pod["runAsUser"] > 0,
            "seccomp": of_pod.get("seccompProfile") == {"type": "RuntimeDefault"},
            "allowPrivilegeEscalation": own.get("allowPrivilegeEscalation") is False,
            "capabilities": own.get("capabilities") == {"drop": ["ALL"]},
            "readOnlyRootFilesystem": own.get("readOnlyRootFilesystem") is True,
            "hostPort": not any("hostPort" in port for port in container.get("ports", [])),
        }
        found += [name for name, holds in facts.items() if not holds]
    return found


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_g9_every_pod_keeps_to_the_restricted_profile_with_a_read_only_root(
    helm: Path, values: Path
) -> None:
    pods = list(rendering.pods(rendering.objects(helm, values)))

    assert pods
    assert {name: _breaches(pod) for name, pod in pods if _breaches(pod)} == {}


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_g9_only_the_operator_can_speak_to_the_api_server(helm: Path, values: Path) -> None:
    pods = list(rendering.pods(rendering.objects(helm, values)))

    assert {name for name, pod in pods if pod["automountServiceAccountToken"]} == {"operator"}
    assert all(pod["enableServiceLinks"] is False for _, pod in pods)


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_g7_every_container_has_requests_and_a_memory_limit(helm: Path, values: Path) -> None:
    pods = rendering.pods(rendering.objects(helm, values))

    unbounded = {
        name
        for name, pod in pods
        for container in pod["containers"]
        if not {"cpu", "memory"} <= set(container["resources"]["requests"])
        or "memory" not in container["resources"]["limits"]
        or "cpu" in container["resources"]["limits"]
    }
    assert unbounded == set()


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_every_variable_is_one_that_the_program_reads_and_none_it_needs_is_missing(
    helm: Path, values: Path
) -> None:
    pods = dict(rendering.pods(rendering.objects(helm, values)))

    for name, classes in PROGRAMS.items():
        [container] = pods[name]["containers"]
        told = {variable["name"] for variable in container["env"]}
        settings = list(described(*classes))
        known = {alias for setting in settings for alias in setting.names}
        needed = {setting.names for setting in settings if setting.default is None}
        assert told - known - FOREIGN == set()
        assert [names for names in needed if not told & set(names)] == []


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_every_command_is_one_of_ledger_and_is_told_what_it_reads(helm: Path, values: Path) -> None:
    topology = {name for setting in described(TopologySettings) for name in setting.names}
    commands = {
        name: pod["containers"][0]
        for name, pod in rendering.pods(rendering.objects(helm, values))
        if "args" in pod["containers"][0]
    }

    for container in commands.values():
        told = {variable["name"] for variable in container["env"]}
        assert told - LEDGER - FOREIGN - topology == set()
        assert _is_a_command(container["args"])


def _is_a_command(words: list[str]) -> bool:
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    first, *rest = words
    if first in groups:
        names = {one.name or one.callback.__name__ for one in groups[first].registered_commands}  # type: ignore[union-attr]
        return rest[0] in names
    return first in {one.name or one.callback.__name__ for one in app.registered_commands}  # type: ignore[union-attr]


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_g8_no_pod_carries_a_secret_in_its_own_text(helm: Path, values: Path) -> None:
    for _, pod in rendering.pods(rendering.objects(helm, values)):
        for variable in pod["containers"][0]["env"]:
            if variable["name"].endswith(("_URL", "_PASS", "PASSWORD")):
                assert set(variable) == {"name", "valueFrom"}


def test_g9_each_process_has_its_own_login_and_a_worker_none_to_the_database(helm: Path) -> None:
    logins: dict[str, dict[str, str]] = {}
    for name, pod in rendering.pods(rendering.objects(helm, EVERYTHING)):
        for variable in pod["containers"][0]["env"]:
            if variable["name"] in {"RABBITMQ_URL", "DATABASE_URL"}:
                secret = variable["valueFrom"]["secretKeyRef"]["name"]
                logins.setdefault(variable["name"], {})[name] = secret

    assert set(logins["DATABASE_URL"]) == DATABASE_USERS
    assert logins["DATABASE_URL"]["migrations"] == "database-owner"
    assert logins["RABBITMQ_URL"] == {
        "operator": "broker-operator",
        "worker": "broker-worker",
        "collector": "broker-collector",
        "publisher": "broker-publisher",
        "topology": "broker-topology",
        "doctor": "broker-topology",
    }


@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_g9_only_workers_and_the_clean_up_write_the_cache_and_nobody_the_receipts(
    helm: Path, values: Path
) -> None:
    writers: dict[str, set[str]] = {"receipts": set(), "ocr-cache": set()}
    for name, pod in rendering.pods(rendering.objects(helm, values)):
        for mount in pod["containers"][0]["volumeMounts"]:
            if mount["name"] in writers and not mount.get("readOnly"):
                writers[mount["name"]].add(name)

    assert writers["receipts"] == set()
    assert writers["ocr-cache"] - {"prune"} == {"worker"}


def test_g9_a_collector_mounts_neither_receipts_nor_cache(helm: Path) -> None:
    [pod] = [
        pod for name, pod in rendering.pods(rendering.objects(helm, DEFAULT)) if name == "collector"
    ]

    assert {volume["name"] for volume in pod["volumes"]} == {"scratch"}


def test_a_worker_may_finish_its_receipt_before_it_is_killed(helm: Path) -> None:
    rendered = rendering.objects(helm, DEFAULT, "worker.ocrDeadlineSeconds=300")
    [pod] = [pod for name, pod in rendering.pods(rendered) if name == "worker"]

    assert pod["terminationGracePeriodSeconds"] == 420


def test_workers_have_no_count_of_their_own_where_a_scaler_counts(helm: Path) -> None:
    [counted] = _workers(rendering.objects(helm, DEFAULT))
    [scaled] = _workers(rendering.objects(helm, EVERYTHING))

    assert counted["spec"]["replicas"] == 1
    assert "replicas" not in scaled["spec"]


def test_there_is_one_operator_and_never_two(helm: Path) -> None:
    [operator] = [
        one
        for one in rendering.of_kind(rendering.objects(helm, EVERYTHING), "Deployment")
        if rendering.component(one) == "operator"
    ]

    assert operator["spec"]["replicas"] == 1
    assert operator["spec"]["strategy"] == {"type": "Recreate"}


def test_a_changed_authority_starts_the_pods_anew(helm: Path) -> None:
    def checksum(pem: str) -> str:
        rendered = rendering.objects(helm, DEFAULT, f"rabbitmq.authority.pem={pem}")
        [worker] = _workers(rendered)
        return str(worker["spec"]["template"]["metadata"]["annotations"]["checksum/authorities"])

    one, other = (
        f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----" for text in "ab"
    )
    assert checksum(one) != checksum(other)


def _workers(rendered: Sequence[Object]) -> list[Object]:
    return [
        one
        for one in rendering.of_kind(rendered, "Deployment")
        if rendering.component(one) == "worker"
    ]
