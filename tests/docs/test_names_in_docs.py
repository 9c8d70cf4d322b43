"""Files, modules and links that the documentation names exist."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"\b((?:leaderboard|evaluator|tests)/[\w/.-]+\.py)(?:::(\w+))?")
MODULE = re.compile(r"`((?:evaluator|leaderboard\.\w+)(?:\.\w+)+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_and_links_exist(page: Path) -> None:
    text = page.read_text()
    broken = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    for file, name in FILE.findall(text):
        source = ROOT / file
        defined = rf"(?m)^\s*(?:async def|def|class) {name}\b|^{name}\b"
        if not source.is_file() or (name and not re.search(defined, source.read_text())):
            broken.append(f"{file}::{name}" if name else file)
    for name in MODULE.findall(text):
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            broken.append(name)
    assert not broken
