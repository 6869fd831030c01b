"""A cluster with real pods, our images in it, and the broker and the database it may reach.

What every pod said is kept below `.e2e` when a test fails.
"""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from dev import folders
from dev.helm import programs
from dev.helm.programs import Program
from dev.kubernetes import choice
from dev.kubernetes.cluster import PodCluster
from dev.node import images
from dev.node.images import Target
from dev.stack import Stack
from tests.chart.rendering import CHART
from tests.e2e.ground import LOOPBACK, Ground, Road, closing, making, standing
from tests.e2e.tenant import OLDER, REGISTRY, Tenant, version
from tests.support.services import Broker

_KEPT = folders.CHECKOUT / ".e2e"
_SECONDS = 1200


@pytest.fixture(scope="session")
def cluster(stack: Stack) -> PodCluster:
    """Give a cluster with at least one node."""
    chosen = choice.build_with_pods(choice.choose(os.environ), stack.folder / "kubernetes")
    stack.start(chosen)
    return chosen


@pytest.fixture(scope="session")
def helm() -> Path:
    """Give Helm."""
    return programs.ensure(Program.HELM_4)


@pytest.fixture(scope="session")
def loaded(cluster: PodCluster) -> None:
    """Have our images on the nodes, under two versions; say how large they are at the end."""
    archives = {}
    for target in Target:
        name = f"{REGISTRY}/{target.image}"
        archives[target] = images.of_ours(target, f"{name}:{version()}")
        cluster.load(archives[target])
        cluster.tag(f"{name}:{version()}", f"{name}:{OLDER}")
    closing.append(images.sizes(archives))


@pytest.fixture(scope="session")
def older_chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the chart as it would have been a version earlier."""
    chart = tmp_path_factory.mktemp("older") / CHART.name
    shutil.copytree(CHART, chart)
    described = chart / "Chart.yaml"
    fields = yaml.safe_load(described.read_text(encoding="utf-8"))
    fields |= {"version": OLDER, "appVersion": OLDER}
    described.write_text(yaml.safe_dump(fields), encoding="utf-8")
    return chart


@pytest.fixture(scope="session")
def ground(  # noqa: PLR0913, PLR0917 - one resource each
    stack: Stack,
    cluster: PodCluster,
    helm: Path,
    broker: Broker,
    database_admin_url: str,
    loaded: None,  # noqa: ARG001 - it is enough that they are there
) -> Ground:
    """Give what namespaces are made of; pods reach servers on loopback at our address for them."""
    to_broker = Road(
        stack.daemon("forward-broker"), cluster.host, _here(broker.url, broker.api.url)
    )
    to_database = Road(stack.daemon("forward-database"), cluster.host, _here(database_admin_url))
    for road in (to_broker, to_database):
        road.open()
    return Ground(cluster, helm, broker, database_admin_url, to_broker)


def _here(*urls: str) -> tuple[int, ...]:
    """Return the ports of those that listen on this machine's loopback."""
    parts = map(urlsplit, urls)
    return tuple(one.port for one in parts if one.hostname == LOOPBACK and one.port)


@pytest.fixture(scope="module")
def tenant(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """Give a namespace with all that the documents ask for, in which nothing is installed yet."""
    with making(ground, tmp_path_factory.mktemp("tenant")) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep what the pods of a failed test said, and name the folder."""
    report = yield
    if report.failed and call.when != "teardown":
        for one in standing:
            folder = _KEPT / item.name / one.namespace
            one.keep(folder)
            report.sections.append(("kept", f"what its pods said: {folder}"))
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give time: the first test of all builds images, and an installation has minutes."""
    for item in items:
        item.add_marker(pytest.mark.timeout(_SECONDS))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how large the images are, and how the namespace of the examples stood in the end."""
    for text in closing:
        terminalreporter.write_line(f"\n{text}")
