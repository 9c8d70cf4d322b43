"""docs/honesty.md lists every promise, and the tests that it names exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "honesty.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


def test_each_promise_has_a_test() -> None:
    lines = [line.split("|") for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(line[1]) for line in lines] == list(range(1, len(lines) + 1)) and len(lines) >= 26
    assert all("tests/" in line[-2] for line in lines)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_named_test_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in functions if name else any(function.startswith("test_") for function in functions)
