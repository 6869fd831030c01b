"""Servers for the chart's trial where the images that it names cannot be had: Debian's packages.

They take the same variables as the images of the same names that people use.
"""

from pathlib import Path
from typing import Any

from dev.kubernetes.cluster import PodCluster
from dev.node import images
from dev.node.images import Suite

_FOLDER = Path(__file__).with_name("trial_images")
_SUITES = {"rabbitmq": Suite.TRIXIE, "postgresql": Suite.BOOKWORM}


def load(cluster: PodCluster) -> dict[str, Any]:
    """Have their images on the nodes; return them as values of the chart's trial."""
    values = {}
    for server, suite in _SUITES.items():
        name = f"localhost/receipts-dev/trial-{server}:{suite}"
        cluster.load(images.of_debian(suite, _FOLDER / server, name))
        values[server] = {"image": name}
    return values
