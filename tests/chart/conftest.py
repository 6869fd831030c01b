"""The programs that look at the chart: `make chart` builds them, `make test` uses what is there."""

from pathlib import Path

import pytest

from dev.helm import checkov as policies
from dev.helm import programs
from dev.helm.programs import Program


def _built(program: Program) -> Path:
    path = programs.built(program)
    if path is None:
        pytest.skip(f"{program.file_name} was never built here: make chart does it")
    return path


@pytest.fixture(scope="session")
def helm() -> Path:
    """Give the Helm that most people use."""
    return _built(Program.HELM_4)


@pytest.fixture(scope="session", params=[Program.HELM_3, Program.HELM_4], ids=lambda one: one.name)
def each_helm(request: pytest.FixtureRequest) -> Path:
    """Give both lines of Helm."""
    return _built(request.param)


@pytest.fixture(scope="session")
def promtool() -> Path:
    """Give the checker of alert rules."""
    return _built(Program.PROMTOOL)


@pytest.fixture(scope="session")
def actionlint() -> Path:
    """Give the checker of workflows."""
    return _built(Program.ACTIONLINT)


@pytest.fixture(scope="session")
def checkov() -> Path:
    """Give the judge of policies."""
    path = policies.built()
    if path is None:
        pytest.skip("Checkov was never installed here: make chart does it")
    return path
