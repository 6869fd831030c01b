"""What the build takes out of the images is still where it was, and still not used."""

import re
import sysconfig
from pathlib import Path

import pytest
from kubernetes.aio import client

from dev import folders
from dev.image import trim

PACKAGES = Path(sysconfig.get_path("purelib"))
OPERATOR = folders.CHECKOUT / "operator" / "receipt_operator"


@pytest.mark.parametrize("pattern", [*trim.UNUSED, *trim.KEPT])
def test_a_part_that_is_named_is_there(pattern: str) -> None:
    assert next(PACKAGES.glob(pattern), None) is not None


def test_what_the_operator_takes_from_the_client_is_in_its_image() -> None:
    source = "\n".join(path.read_text("utf-8") for path in OPERATOR.rglob("*.py"))
    used = {getattr(client, name) for name in re.findall(r"\bclient\.([A-Z]\w+)\b", source)}
    gone = re.compile(r"client\.(api|models)\.(\w+)$")

    files = {found[0].replace(".", "/") for one in used if (found := gone.search(one.__module__))}

    assert files
    assert {f"kubernetes/aio/{file}.py" for file in files} <= set(trim.KEPT)
