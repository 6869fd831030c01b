"""`python -m dev`: starts, shows and ends the services of the demo, or prepares the machine."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable

from dev import console, packages
from dev.errors import DevError
from dev.kubernetes import choice, kind, kubectl, programs
from dev.kubernetes.choice import Choice
from dev.kubernetes.programs import Program
from dev.stack import DEMO, Stack


def main() -> int:
    """Run one command; the exit status is 1 when something on the machine stands in the way."""
    signal.signal(signal.SIGTERM, _interrupt)
    chosen = _parser().parse_args()
    run: Callable[[Stack], None] = chosen.run
    try:
        run(Stack(chosen.stack))
    except DevError as error:
        console.say(str(error))
        return 1
    except KeyboardInterrupt:
        console.say("interrupted")
        return 130
    return 0


def _up(stack: Stack) -> None:
    """Start the services that do not run."""
    stack.up()
    _status(stack)


def _down(stack: Stack) -> None:
    """End the services and remove their data."""
    stack.down()
    stack.cluster.remove()


def _status(stack: Stack) -> None:
    """Print as JSON where the healthy services listen, passwords included."""
    found: dict[str, str | None] = dict.fromkeys(("rabbitmq", "postgres", "kubeconfig"))
    if stack.rabbitmq.is_healthy():
        found["rabbitmq"] = stack.rabbitmq.url()
        found["rabbitmq_management"] = stack.rabbitmq.api_url
    if stack.postgres.is_healthy():
        found["postgres"] = stack.postgres.url()
    if stack.cluster.is_healthy():
        found["kubeconfig"] = str(stack.cluster.kubeconfig())
    print(json.dumps(found, indent=2))


def _kubeconfig(stack: Stack) -> None:
    """Print the path of the administrator's kubeconfig; start the cluster when it does not run."""
    stack.start(stack.cluster)
    print(stack.cluster.kubeconfig())


def _setup(_: Stack) -> None:
    """Install system packages and build the programs of the local cluster, as far as missing."""
    packages.ensure()
    match choice.choose(os.environ):
        case Choice.LOCAL:
            programs.ensure(Program.ETCD)
            programs.ensure(Program.API_SERVER)
        case Choice.KIND:
            kind.program()
        case Choice.CURRENT:
            pass
    kubectl.find()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev", description=__doc__)
    parser.add_argument("--stack", default=DEMO, help="name of the set of services (%(default)s)")
    commands = parser.add_subparsers(required=True, metavar="command")
    for run in (_up, _down, _status, _kubeconfig, _setup):
        command = commands.add_parser(run.__name__.removeprefix("_"), help=run.__doc__)
        command.set_defaults(run=run)
    return parser


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
