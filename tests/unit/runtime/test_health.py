"""What the three paths answer."""

import http.client
from collections.abc import Iterator

import pytest

from receipt_runtime import metrics
from receipt_runtime.health import HealthServer


@pytest.fixture
def problems() -> list[str]:
    """Give what is wrong; a test adds to it."""
    return []


@pytest.fixture
def server(problems: list[str]) -> Iterator[HealthServer]:
    """Give a running server whose readiness is `problems`."""
    server = HealthServer(0, live=list, ready=lambda: problems)
    server.start()
    yield server
    server.close()


def _get(server: HealthServer, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/readyz?verbose"])
def test_without_problems_it_is_ok(server: HealthServer, path: str) -> None:
    assert _get(server, path) == (200, "ok\n")


def test_each_problem_is_a_line(server: HealthServer, problems: list[str]) -> None:
    problems.extend(["The broker is away.", "The disk is full."])

    assert _get(server, "/readyz") == (503, "The broker is away.\nThe disk is full.\n")
    assert _get(server, "/livez") == (200, "ok\n")


def test_metrics_are_shown(server: HealthServer) -> None:
    metrics.RECONNECTS.labels(link="shown").inc()

    status, text = _get(server, "/metrics")

    assert status == 200
    assert 'receipts_reconnects_total{link="shown"} 1.0' in text


def test_any_other_path_is_not_found(server: HealthServer) -> None:
    assert _get(server, "/etc/passwd") == (404, "not found\n")


def test_a_closed_server_frees_its_port() -> None:
    first = HealthServer(0, live=list, ready=list)
    first.start()
    first.close()

    second = HealthServer(first.port, live=list, ready=list)
    second.start()
    second.close()
