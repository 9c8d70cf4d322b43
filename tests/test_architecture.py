"""Architecture rules that import-linter cannot express."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "leaderboard"
PRIVATE = {"Score", "outcomes", "outcomes_storage", "outcomes_sha256"}
EXACT = {"Score", "Comparison", "HeadToHead"}
"""Tables with numbers that are computed from hidden gold and stored with all digits."""
POLICIES = "leaderboard.boards.disclosure.policies"
THROUGH_POLICIES = {
    "scoring/actions/releases.py",
    "scoring/actions/plots.py",
    "comparisons/queries/head_to_head.py",
    "comparisons/queries/pairs.py",
}
"""Modules that read exact numbers and make of them what is shown."""
SHOW_NONE = {
    "comparisons/actions/head_to_head.py": "writes the rows",
    "comparisons/actions/pairs.py": "writes the rows",
    "comparisons/actions/rank_ranges.py": "writes the rows, and ranges of ranks",
    "comparisons/queries/rank_ranges.py": "decides which pairs differ significantly",
    "comparisons/web/head_to_head.py": "the state of a row",
    "comparisons/web/rate_limit.py": "the state of rows",
    "scoring/actions/runs.py": "writes the rows",
    "scoring/queries/leakage_budget.py": "numbers of groups",
    "submissions/queries/exact_scores.py": "for organisers",
    "admin/work.py": "for operators",
    "archives/actions/json_values.py": "a type",
    "archives/actions/row_checks.py": "a type",
    "archives/actions/tables.py": "the encrypted part of an archive",
}
"""Other modules that read these tables, with what they do with them."""


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


def reads_exact_numbers(tree: ast.Module) -> bool:
    """Return True for a module that imports one of the tables EXACT, or reads the scores of a run."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("leaderboard.models"):
                if EXACT & {alias.name for alias in names}:
                    return True
            case ast.Attribute(attr="scores", value=ast.Name(id="run") | ast.Attribute(attr="run")):
                return True
            case ast.Attribute(attr="comparisons" | "head_to_heads", value=ast.Name(id="board" | "leaderboard")):
                return True
    return False


def test_numbers_of_hidden_gold_are_shown_through_the_policies() -> None:
    """Every module that reads them is listed, and those that show them import the policies and round what they show."""
    found = {str(path.relative_to("leaderboard")): tree for path, tree in parsed(SITE) if reads_exact_numbers(tree)}
    found = {path: tree for path, tree in found.items() if not path.startswith(("models/", "migrations/"))}
    assert found.keys() == THROUGH_POLICIES | SHOW_NONE.keys()
    for path in THROUGH_POLICIES:
        imports = [node for node in ast.walk(found[path]) if isinstance(node, ast.ImportFrom)]
        used = {alias.name for node in imports if node.module == POLICIES for alias in node.names}
        assert any(name.startswith("reveal_") or name == "reveal" for name in used), path
    pages = [*SITE.glob("*/web"), *SITE.glob("*/api"), *SITE.glob("*/templatetags")]
    for path, tree in (one for folder in pages for one in parsed(folder)):
        wrong = {
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("evaluator.disclosure.policy")
        }
        assert not wrong, f"{path} applies a policy by itself; expected {POLICIES}"


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


def test_no_modules_of_the_evaluator_import_each_other_in_a_circle() -> None:
    """Imports for type checking count too: a circle of types is one of ideas."""
    graph = grimp.build_graph("evaluator")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 200
    while leaves := {module for module, imported in imports.items() if not imported & imports.keys()}:
        imports = {module: imported for module, imported in imports.items() if module not in leaves}
    assert not imports
