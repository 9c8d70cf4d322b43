"""Architecture rules that import-linter cannot express."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "leaderboard"
PRIVATE = {"Score", "outcomes", "outcomes_storage", "outcomes_sha256"}


def parsed(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def test_pages_api_and_boards_read_releases_never_scores_or_outcomes() -> None:
    folders = [*SITE.glob("*/web"), *SITE.glob("*/api"), SITE / "boards" / "queries"]
    read, private = 0, {}
    for path, tree in (one for folder in folders for one in parsed(folder)):
        nodes = list(ast.walk(tree))
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        named |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        read += 1
        if named & PRIVATE:
            private[str(path)] = named & PRIVATE
    assert not private
    assert read > 150, "the folders have moved: this test reads hardly any files"


def test_no_work_is_hidden_in_save_or_signals() -> None:
    for path, tree in parsed(SITE):
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "save" not in names, f"{path} overrides save()"
        assert "django.db.models.signals" not in imported, f"{path} listens to model signals"


def test_no_folder_holds_more_than_30_modules() -> None:
    """More than fit on one screen; migrations are never looked through."""
    roots = [ROOT / name for name in ("leaderboard", "evaluator", "tests")]
    folders = [folder for root in roots for folder in (root, *root.rglob("*/"))]
    counts = {folder: len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) for folder in folders}
    full = {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > 30}
    full.pop("leaderboard/migrations", None)
    assert not full and len(counts) > 100


def test_one_module_locks_phases_and_splits() -> None:
    """Others wait for whoever holds the lock; `row_locks` limits for how long its holder may pause."""
    by_hand, found = [], 0
    for path, tree in parsed(SITE):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="select_for_update")):
                    found += 1
                    code = ast.unparse(node)
                case ast.Call(func=ast.Name(id="locked") | ast.Attribute(attr="locked")):
                    code = ast.unparse(node)
                case _:
                    continue
            if re.search(r"\b(Phase|Split)\b|\b(phase|split)s?\.", code) and path.name != "row_locks.py":
                by_hand.append(f"{path}:{node.lineno}: {code}")
    assert by_hand == []
    assert found > 20, "locks are taken in another way: this test sees hardly any"
