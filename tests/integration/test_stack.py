"""The development services under faults: every other test relies on what these show."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pika
import pika.exceptions
import psycopg
import pytest

from dev import daemon, folders, process
from dev.kubernetes import kubectl
from dev.kubernetes.kubectl import KubectlError
from dev.kubernetes.local import LocalCluster
from dev.leash import Leash
from dev.postgres import Postgres
from dev.rabbitmq import RabbitMQ
from dev.stack import Stack

_PATIENCE_SECONDS = 60

_START_POSTGRES = """
import sys
from dev.stack import Stack
stack = Stack(sys.argv[1])
stack.start(stack.postgres)
"""

# A session that starts PostgreSQL and one program of its own, says so, and waits to be struck.
_SESSION = """
import signal, subprocess, sys, time
from dev.leash import Leash
from dev.stack import Stack
signal.signal(signal.SIGINT, signal.default_int_handler)  # a CI run may have started us deaf
stack = Stack(sys.argv[1])
leash = Leash(stack)
try:
    stack.start(stack.postgres)
    own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(own.pid, flush=True)
    time.sleep(600)
finally:
    leash.release()
"""


@pytest.fixture
def database(postgres_server: Postgres) -> Iterator[str]:
    """Give a table with one row; the server runs again at the end."""
    url = postgres_server.url()
    _run_sql(url, "CREATE TABLE kept AS SELECT 1 AS row")
    yield url
    postgres_server.start()
    _run_sql(url, "DROP TABLE IF EXISTS kept")


@pytest.fixture
def queue(rabbitmq_server: RabbitMQ) -> Iterator[str]:
    """Give the URL of a broker with a durable queue `kept`; the broker runs again at the end."""
    url = rabbitmq_server.url()
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        connection.channel().queue_declare("kept", durable=True)
    yield url
    rabbitmq_server.start()
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        connection.channel().queue_delete("kept")


def test_postgres_comes_back_with_its_data_after_a_kill(
    postgres_server: Postgres, database: str
) -> None:
    with psycopg.connect(database) as connection:
        postgres_server.kill()

        assert not postgres_server.is_healthy()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")

    postgres_server.start()

    assert _run_sql(database, "SELECT row FROM kept") == [(1,)]


def test_postgres_comes_back_with_its_data_after_a_stop(
    postgres_server: Postgres, database: str
) -> None:
    postgres_server.stop()
    postgres_server.start()

    assert _run_sql(database, "SELECT row FROM kept") == [(1,)]


def test_a_paused_postgres_answers_nobody_until_it_is_resumed(
    postgres_server: Postgres, database: str
) -> None:
    postgres_server.pause()

    assert not postgres_server.is_healthy()

    postgres_server.resume()

    assert _run_sql(database, "SELECT row FROM kept") == [(1,)]


def test_a_wiped_postgres_is_empty_and_in_the_same_place(
    postgres_server: Postgres, database: str
) -> None:
    postgres_server.wipe()

    assert _run_sql(database, "SELECT to_regclass('kept')") == [(None,)]


def test_rabbitmq_comes_back_with_its_queues_after_a_stop_and_after_a_kill(
    rabbitmq_server: RabbitMQ, queue: str
) -> None:
    rabbitmq_server.stop()
    rabbitmq_server.start()

    assert _has_queue(queue, "kept")

    # Only now: a broker killed right after it made a queue may have lost it.
    rabbitmq_server.kill()

    assert not rabbitmq_server.is_healthy()
    with pytest.raises(pika.exceptions.AMQPConnectionError):
        pika.BlockingConnection(pika.URLParameters(queue))

    rabbitmq_server.start()

    assert _has_queue(queue, "kept")


def test_a_paused_rabbitmq_answers_again_when_it_is_resumed(
    rabbitmq_server: RabbitMQ, queue: str
) -> None:
    rabbitmq_server.pause()
    rabbitmq_server.resume()

    assert _has_queue(queue, "kept")


def test_a_wiped_rabbitmq_has_the_same_vhosts_and_nothing_in_them(
    rabbitmq_server: RabbitMQ, queue: str, rabbitmq_url: str
) -> None:
    vhosts = rabbitmq_server.api.vhosts()

    rabbitmq_server.wipe()

    assert rabbitmq_server.api.vhosts() == vhosts
    assert not _has_queue(queue, "kept")
    assert not _has_queue(rabbitmq_url, "kept")


def test_the_api_server_comes_back_with_its_objects_after_a_kill(
    local_cluster: LocalCluster, namespace: str
) -> None:
    local_cluster.kill()

    with pytest.raises(KubectlError):
        local_cluster.kubectl("get", "namespace", namespace)

    local_cluster.start()

    assert namespace in local_cluster.kubectl("get", "namespace", namespace)


def test_g9_the_operator_may_do_what_its_role_says_and_nothing_more(
    local_cluster: LocalCluster, namespace: str
) -> None:
    operator = local_cluster.operator_kubeconfig(namespace)
    rules = kubectl.run(operator, "auth", "can-i", "--list", "--no-headers")
    # Every identity may look at itself and read the addresses outside any resource.
    ours = sorted(
        " ".join(line.split())
        for line in rules.splitlines()
        if not line.startswith((" ", "self")) and line
    )

    assert ours == [
        "cacherebuilds.receipts.homebudget.dev [] [] [list watch]",
        "cacherebuilds.receipts.homebudget.dev/status [] [] [patch]",
        "events [] [] [create]",
        "receiptreprocesses.receipts.homebudget.dev [] [] [list watch]",
        "receiptreprocesses.receipts.homebudget.dev/status [] [] [patch]",
    ]
    with pytest.raises(KubectlError, match="Forbidden"):
        kubectl.run(operator, "get", "secrets")


def test_writes_to_events_stand_in_the_audit_log(
    local_cluster: LocalCluster, namespace: str
) -> None:
    event = f"""
        apiVersion: v1
        kind: Event
        metadata: {{name: seen, namespace: {namespace}}}
        involvedObject: {{namespace: {namespace}}}
    """
    local_cluster.kubectl("create", "--filename", "-", text=event)

    assert local_cluster.audit_log is not None
    lines = local_cluster.audit_log.read_text(encoding="utf-8").splitlines()
    assert sum(f'"namespace":"{namespace}"' in line and '"create"' in line for line in lines) == 1


def test_a_healthy_stack_is_used_again_and_a_dead_service_of_it_is_repaired() -> None:
    stack = Stack(f"reuse-{os.getpid()}")
    try:
        stack.start(stack.postgres)
        (first,) = daemon.recorded(stack.folder)
        began = first.started
        Stack(stack.name).start(Stack(stack.name).postgres)
        reused = first.started
        first.kill()
        Stack(stack.name).start(Stack(stack.name).postgres)
        repaired = first.started
    finally:
        stack.down()

    assert reused == began
    assert repaired > began
    assert not stack.folder.exists()


def test_two_commands_that_start_a_stack_at_once_start_one_server() -> None:
    name = f"at-once-{os.getpid()}"
    starts = [sys.executable, "-c", _START_POSTGRES, name]
    try:
        commands = [
            subprocess.Popen(starts, cwd=folders.CHECKOUT, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = "".join(command.communicate()[1] for command in commands)
        found = daemon.recorded(Stack(name).folder)

        assert [command.returncode for command in commands] == [0, 0]
        assert said.splitlines().count("starting PostgreSQL …") == 1
        assert [one.name for one in found] == ["postgres"]
    finally:
        Stack(name).down()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="interrupted at the terminal"),
        pytest.param(signal.SIGTERM, id="asked to end"),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_a_session_that_ends_leaves_nothing_running(number: signal.Signals) -> None:
    name = f"leash-{os.getpid()}-{number.name.lower()}"
    session = subprocess.Popen(
        [sys.executable, "-c", _SESSION, name],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folders.CHECKOUT,
    )
    try:
        assert session.stdout is not None
        own = process.identify(int(session.stdout.readline()))
        servers = [one for d in daemon.recorded(Stack(name).folder) for one in d.family()]
        session.send_signal(number)
        session.wait(_PATIENCE_SECONDS)
    finally:
        session.kill()
        session.communicate()
    _wait_until(lambda: not Stack(name).folder.exists())

    assert servers
    assert not any(process.is_alive(program) for program in [own, *servers])


def test_a_released_leash_ends_the_stack() -> None:
    stack = Stack(f"released-{os.getpid()}")
    leash = Leash(stack)
    stack.start(stack.postgres)
    leash.release()

    assert not stack.folder.exists()
    assert not stack.postgres.is_healthy()


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def _has_queue(url: str, name: str) -> bool:
    connection = pika.BlockingConnection(pika.URLParameters(url))
    try:
        connection.channel().queue_declare(name, passive=True)
    except pika.exceptions.ChannelClosedByBroker:
        return False
    finally:
        connection.close()
    return True


def _run_sql(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
