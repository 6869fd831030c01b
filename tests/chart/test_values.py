"""Wrong values are refused with one sentence that says what to do."""

from pathlib import Path

import pytest

from tests.chart import rendering
from tests.chart.rendering import CHART, DEFAULT, HelmError

TRIAL = CHART / "ci" / "trial-values.yaml"

CONTRADICTIONS = [
    pytest.param(DEFAULT, ["cluster="], "cluster is not set", id="no cluster"),
    pytest.param(
        DEFAULT,
        ["rabbitmq.secrets.worker.name="],
        "rabbitmq.secrets.worker.name is not set",
        id="no Secret for a broker user",
    ),
    pytest.param(
        DEFAULT,
        ["postgresql.secrets.operator.name="],
        "postgresql.secrets.operator.name is not set",
        id="no Secret for a database user",
    ),
    pytest.param(
        DEFAULT,
        ["postgresql.secrets.migrations.name="],
        "or set migrations.enabled to false",
        id="no owner of the schemas",
    ),
    pytest.param(
        DEFAULT,
        ["postgresql.secrets.migrations.name=", "migrations.enabled=false"],
        "or set prune.enabled to false",
        id="no owner who removes what is old",
    ),
    pytest.param(
        DEFAULT,
        ["rabbitmq.secrets.topology.name="],
        "or set topologyDeclaration.enabled to false",
        id="no user who may configure",
    ),
    pytest.param(
        DEFAULT,
        ["storage.receipts.existingClaim="],
        "storage.receipts has no volume",
        id="no volume",
    ),
    pytest.param(
        DEFAULT,
        ["storage.cache.create.enabled=true"],
        "storage.cache has two volumes",
        id="two volumes",
    ),
    pytest.param(
        DEFAULT,
        ["worker.ocrDeadlineSeconds=721"],
        "rabbitmq.consumerTimeoutSeconds would have to be 1801",
        id="a deadline that the broker does not wait for",
    ),
    pytest.param(
        DEFAULT, ["keda.enabled=true"], "keda.secret is not set", id="no Secret for the scaler"
    ),
    pytest.param(
        DEFAULT,
        ["keda.enabled=true", "keda.secret=scaler"],
        "keda.managementUrl is not set",
        id="no management address for the scaler",
    ),
    pytest.param(
        DEFAULT,
        ["keda.enabled=true", "keda.secret=scaler", "keda.minReplicas=3"],
        "keda.minReplicas is more than keda.maxReplicas",
        id="fewest more than most",
    ),
    pytest.param(
        DEFAULT,
        [
            "rabbitmqResources.enabled=true",
            "rabbitmqResources.cluster.name=a",
            "rabbitmqResources.cluster.namespace=b",
        ],
        "The queues have two makers",
        id="two makers of queues",
    ),
    pytest.param(
        DEFAULT,
        ["rabbitmqResources.enabled=true"],
        "rabbitmqResources.cluster is not complete",
        id="queues of no cluster",
    ),
    pytest.param(
        TRIAL, ["trial.password="], "trial.password is not set", id="a trial without a password"
    ),
    pytest.param(
        TRIAL,
        ["rabbitmq.secrets.worker.name=real"],
        "take rabbitmq.secrets.worker away, or trial.enabled",
        id="a trial beside a real broker",
    ),
    pytest.param(
        TRIAL,
        ["postgresql.authority.name=real"],
        "trial.enabled knows no TLS",
        id="a trial with TLS",
    ),
    pytest.param(
        TRIAL,
        ["keda.enabled=true", "keda.secret=x", "keda.managementUrl=http://x"],
        "keda and rabbitmqResources belong to a broker of your own",
        id="a trial that scales",
    ),
]

# What is no value of ours, or not of its kind, and the name by which the schema refuses it.
OUT_OF_SCHEMA = [
    ("workers.replicas=2", "workers"),
    ("worker.replica=2", "replica"),
    ("worker.replicas=-1", "replicas"),
    ("worker.resources.cpu=1", "cpu"),
    ("rabbitmq.topology=auto", "topology"),
    ("operator.maxInFlight=0", "maxInFlight"),
    ("operator.image.digest=latest", "digest"),
    ("keda.managementUrl=http://user:password@broker", "managementUrl"),
    ("publisher.schedule=often", "schedule"),
    ("trial.password=short", "password"),
    ("logLevel=debug", "logLevel"),
    ("rabbitmq.authority.pem=nothing", "pem"),
]


@pytest.mark.parametrize(("values", "settings", "sentence"), CONTRADICTIONS)
def test_values_that_contradict_each_other_end_with_a_sentence(
    helm: Path, values: Path, settings: list[str], sentence: str
) -> None:
    with pytest.raises(HelmError) as raised:
        rendering.text(helm, values, *settings)

    assert sentence in str(raised.value)


@pytest.mark.parametrize(("setting", "name"), OUT_OF_SCHEMA)
def test_a_value_that_is_none_is_named(helm: Path, setting: str, name: str) -> None:
    with pytest.raises(HelmError) as raised:
        rendering.text(helm, DEFAULT, setting)

    assert name in str(raised.value)


def test_an_older_kubernetes_is_refused(helm: Path) -> None:
    with pytest.raises(HelmError) as raised:
        rendering.run(
            helm,
            *("template", "shop", str(CHART), "--values", str(DEFAULT)),
            *("--kube-version", "1.31.9"),
        )

    assert "kubeVersion: >=1.32.0-0" in str(raised.value)
