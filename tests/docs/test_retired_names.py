"""Identifiers use the terms of docs/glossary.md: the private words that they replaced do not come back."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
RETIRED_WORDS = """
arrival arrivals arrived belongings beside deal deals desk divisions doorbell draw drawing drawings drawn draws
exchange exchanged exchanges fate faults halves keeper kept life likeness likenesses mine mistake mistakes moves
naming outgoing referee ring rings rung separation settle sound stand stands telling tells thereof told trial
trials tried vault wanted warming warned whoever widening wording
"""
RETIRED = frozenset(RETIRED_WORDS.split())


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that the module defines or uses, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg, node.lineno
        elif isinstance(node, ast.alias):
            yield from ((name, node.lineno) for name in (node.asname, node.name.rpartition(".")[2]) if name)


def test_no_identifier_of_the_product_has_a_retired_word() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "evaluator/*.py", "leaderboard/*.py", "holdout_eval/*.py"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [path for path in listed.stdout.decode().split() if "/migrations/" not in path]
    assert len(paths) > 500
    found = {
        f"{path}:{line}: {name}"
        for path in paths
        for name, line in identifiers(ast.parse((ROOT / path).read_text()))
        if RETIRED & set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower()))
    }
    found |= {path for path in paths if RETIRED & set(re.findall(r"[a-z]+", Path(path).stem))}
    assert not found, "\n".join(sorted(found))
