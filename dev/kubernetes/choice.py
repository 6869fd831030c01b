"""Which cluster to use: the variable CLUSTER, else what this machine can run."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from dev.errors import DevError
from dev.kubernetes.cluster import Cluster, PodCluster
from dev.kubernetes.current import CurrentCluster
from dev.kubernetes.kind import KindCluster, docker_answers
from dev.kubernetes.local import LocalCluster
from dev.node.cluster import NodeCluster

VARIABLE = "CLUSTER"


class Choice(StrEnum):
    CURRENT = "current"
    KIND = "kind"
    LOCAL = "local"


def choose(environment: Mapping[str, str]) -> Choice:
    """Return the wish in the environment, else kind where Docker runs, else local."""
    wish = environment.get(VARIABLE)
    if not wish:
        return Choice.KIND if docker_answers() else Choice.LOCAL
    try:
        return Choice(wish)
    except ValueError:
        raise DevError(f"{VARIABLE} is one of {', '.join(Choice)}, not {wish!r}") from None


def build(choice: Choice, folder: Path) -> Cluster:
    """Return the cluster object that keeps its files in `folder`."""
    match choice:
        case Choice.CURRENT:
            return CurrentCluster(folder)
        case Choice.KIND:
            return KindCluster(folder)
        case Choice.LOCAL:
            return LocalCluster(folder)


def build_with_pods(choice: Choice, folder: Path) -> PodCluster:
    """Return a cluster in which pods run. Raises DevError for one into which we load no images."""
    match choice:
        case Choice.LOCAL:
            return NodeCluster(folder)
        case Choice.KIND:
            return KindCluster(folder)
        case Choice.CURRENT:
            raise DevError(f"{VARIABLE}=current takes no images of ours: use local or kind")
