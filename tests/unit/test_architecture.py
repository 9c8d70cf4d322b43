"""Rules of the house that import-linter cannot say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRIVATE = {"Score", "outcomes", "outcomes_storage", "outcomes_sha256"}
FOLDERS = ("web", "api", "standings")
READERS = [path for folder in FOLDERS for path in sorted((ROOT / "leaderboard" / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_and_api_read_releases_never_scores_or_outcomes(path: Path) -> None:
    tree = ast.parse(path.read_text())
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not named & PRIVATE


def test_no_work_is_hidden_in_save_or_signals() -> None:
    for path in sorted((ROOT / "leaderboard").rglob("*.py")):
        tree = ast.parse(path.read_text())
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert "save" not in names, f"{path} overrides save()"
        assert "django.db.models.signals" not in imported, f"{path} listens to model signals"
