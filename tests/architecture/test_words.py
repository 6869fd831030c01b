"""The glossary in names: for these things the project has other words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDERS = ("contract", "operator", "worker", "collector", "cli")

# A request has items, a consumer has deliveries; `handler` is kopf's word.
_NOT_USED = re.compile(r"(?:^|_)(?:jobs?|tasks?|handlers?)(?:_|$)", re.IGNORECASE)


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the names that are defined: functions, classes, arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name)
            yield node.lineno, snake
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_names_use_the_words_of_the_glossary() -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}: {name}"
        for folder in FOLDERS
        for path in (CHECKOUT / folder).rglob("*.py")
        for line, name in _names(ast.parse(path.read_text(encoding="utf-8")))
        if _NOT_USED.search(name)
    ]

    assert found == []
