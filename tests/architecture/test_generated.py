"""What `make generate` writes is what is committed."""

import pytest

from dev import generate


@pytest.mark.parametrize(
    ("path", "text"),
    [pytest.param(path, text, id=str(path)) for path, text in generate.files().items()],
)
def test_a_generated_file_is_up_to_date(path: str, text: str) -> None:
    assert (generate.ROOT / path).read_text(encoding="utf-8") == text


def test_the_folder_of_definitions_holds_nothing_else() -> None:
    generated = {path.name for path in generate.files() if path.parent.name == "crds"}

    assert {path.name for path in (generate.ROOT / "crds").iterdir()} == generated
