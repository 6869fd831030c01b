"""`python -m dev.node.prepare`: what the tests with pods need, as far as it is missing."""

import os
import sys

from dev import packages
from dev.errors import DevError
from dev.helm import programs as helm
from dev.helm.programs import Program
from dev.kubernetes import choice
from dev.kubernetes.choice import Choice
from dev.node import programs
from dev.packages import Group


def main() -> None:
    """Install packages and build programs. Raises DevError."""
    if choice.choose(os.environ) is Choice.LOCAL:
        packages.ensure(Group.NODE)
        programs.build_all()
    helm.ensure(Program.HELM_4)


if __name__ == "__main__":
    try:
        main()
    except DevError as error:
        sys.exit(str(error))
