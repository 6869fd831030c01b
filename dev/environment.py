"""Makes the virtual environment of the checkout. Run before there is one.

So it uses the standard library only, and no module here but those that do the same.
"""

import os
import sys
from pathlib import Path

from dev import console, folders, process
from dev.errors import DevError

_PIP = "pip>=25.1"  # the first that installs dependency groups


def make(folder: Path) -> None:
    """Make the environment, or bring it up to date. Raises ProcessError."""
    python = str(folder / "bin" / "python")
    with console.step("making the virtual environment"):
        _run(sys.executable, "-m", "venv", str(folder))
        _run(python, "-m", "pip", "install", "--quiet", "--upgrade", _PIP)
        ours = ("--editable", ".[cli,rapidocr]", "--group", "dev")
        _run(python, "-m", "pip", "install", "--quiet", *ours)


def _run(*argv: str) -> None:
    process.run_in_sight([*argv], env=os.environ, folder=folders.CHECKOUT)


if __name__ == "__main__":
    try:
        make(folders.CHECKOUT / sys.argv[1])
    except DevError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")
