"""The table of log events in docs/operators.md has exactly the events that the code logs."""

from __future__ import annotations

import ast
import re

from tests.conftest import ROOT

LEVELS = {"debug", "info", "warning", "error", "critical"}


def logged() -> dict[str, set[str]]:
    """Return event -> levels, from the calls of loggers in the site's code."""
    levels_by_event: dict[str, set[str]] = {}
    for path in sorted((ROOT / "leaderboard").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name("log" | "logger"), attr=level), args=[ast.Constant(str(event))]
                ):
                    if level in LEVELS:
                        levels_by_event.setdefault(event, set()).add(level)
    return levels_by_event


def test_the_table_names_each_event_with_its_levels() -> None:
    text = (
        (ROOT / "docs" / "operators.md").read_text(encoding="utf-8").partition("## Log events")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \|", text, re.MULTILINE)
    assert {event: set(levels.split(", ")) for event, levels in rows} == logged()
    assert len(rows) == len(dict(rows)) > 25
