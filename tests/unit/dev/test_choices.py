from pathlib import Path

import pytest

from dev import go
from dev.errors import DevError
from dev.kubernetes import choice, programs
from dev.kubernetes.choice import Choice


@pytest.mark.parametrize("wish", list(Choice))
def test_the_variable_decides_which_cluster_is_used(wish: Choice) -> None:
    assert choice.choose({"CLUSTER": wish.value}) is wish


def test_an_unknown_cluster_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(DevError, match="one of current, kind, local, not 'minikube'"):
        choice.choose({"CLUSTER": "minikube"})


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param("go version go1.26.8 linux/amd64", True, id="the line of our pins"),
        pytest.param("go version go1.26 linux/amd64", True, id="its first, without a patch"),
        pytest.param("go version go1.27.3 linux/amd64", False, id="the line after ours"),
        pytest.param("go version go1.19.8 linux/amd64", False, id="the one Debian 12 ships"),
        pytest.param("", False, id="a go that does not run"),
    ],
)
def test_a_go_can_build_the_pinned_programs(version: str, *, expected: bool) -> None:
    assert go.is_of_our_line(version) is expected


def test_the_pinned_kubernetes_is_the_supported_line() -> None:
    assert programs.kubernetes_version().startswith("1.36.")


def test_a_cluster_that_takes_no_images_of_ours_is_refused_where_pods_are_wanted(
    tmp_path: Path,
) -> None:
    with pytest.raises(DevError, match="use local or kind"):
        choice.build_with_pods(Choice.CURRENT, tmp_path)
