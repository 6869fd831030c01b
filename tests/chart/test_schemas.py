"""The oldest Kubernetes that the chart names, and the newest, know every field it renders."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.chart import rendering
from tests.chart.rendering import CASES

OLDEST = rendering.OLDEST_KUBERNETES.rpartition(".")[0]
NEWEST = "1.37"
FOREIGN = ("keda.sh/", "monitoring.coreos.com/", "rabbitmq.com/", "apiextensions.k8s.io/")


@pytest.fixture(scope="module")
def validator() -> ModuleType:
    module: ModuleType = pytest.importorskip("kubernetes_validate", reason="make chart installs it")
    return module


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("values", CASES, ids=lambda path: path.stem)
def test_kubernetes_knows_every_field(
    helm: Path, validator: ModuleType, values: Path, version: str
) -> None:
    ours = [
        one for one in rendering.objects(helm, values) if not one["apiVersion"].startswith(FOREIGN)
    ]

    assert ours
    for one in ours:
        validator.validate(one, version, strict=True)


def test_a_field_that_it_does_not_know_is_noticed(helm: Path, validator: ModuleType) -> None:
    [one, *_] = rendering.of_kind(rendering.objects(helm, rendering.DEFAULT), "Deployment")
    later = {**one, "spec": {**one["spec"], "fromTheFuture": True}}

    with pytest.raises(validator.ValidationError):
        validator.validate(later, OLDEST, strict=True)
