"""Files, modules, links and code names exist that the documentation and docstrings mention."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"\b((?:leaderboard|evaluator|tests)/[\w/.-]+\.py)(?:::(\w+))?")
MODULE = re.compile(r"`((?:evaluator|leaderboard\.\w+)(?:\.\w+)+)`")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]+)")
ANCHOR = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")
GLOSSARY = ROOT / "docs" / "glossary.md"


def test_names_links_and_anchors_exist() -> None:
    broken = [f"{page.relative_to(ROOT)}: {word}" for page in PAGES for word in broken_in(page)]
    assert broken == []


def broken_in(page: Path) -> Iterator[str]:
    """Yield a page's links, anchors, files, functions and modules that do not exist."""
    text = page.read_text()
    yield from (link for link in LINK.findall(text) if not (page.parent / link).exists())
    for link, anchor in ANCHOR.findall(text):
        if anchor not in anchors(page.parent / link if link else page):
            yield f"{link}#{anchor}"
    for file, name in FILE.findall(text):
        source = ROOT / file
        defined = rf"(?m)^\s*(?:async def|def|class) {name}\b|^{name}\b"
        if not source.is_file() or (name and not re.search(defined, source.read_text())):
            yield f"{file}::{name}" if name else file
    for name in MODULE.findall(text):
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError):
            yield name


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_glossary_is_in_alphabetical_order_and_its_paths_exist() -> None:
    rows = re.findall(r"(?m)^\| \*\*(.+?)\*\* \|(.*)\|(.*)\|(.*)\|$", GLOSSARY.read_text())
    terms = [re.sub(r"[^a-z0-9]", "", row[0].lower()) for row in rows]
    assert terms == sorted(set(terms)) and len(terms) > 80
    for term, _, code, _ in rows:
        paths = re.findall(r"`([^`]+)`", code)
        assert paths and all((ROOT / path).exists() for path in paths), term


CODE_NAME = re.compile(
    r"\b(?!HOLDOUT_)(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]\w+(?:Error|Exception))\b|`(?:\w+\.)*([A-Za-z]\w*)`"
)
"""Constants and exceptions in prose, and names in backticks; not environment variables."""
KERNEL = {"AF_INET6", "CLONE_NEW", "LANDLOCK_CREATE_RULESET_VERSION"}
PROSE = re.compile(r'"""(.*?)"""|#([^"\n]*)$', re.DOTALL | re.MULTILINE)


def test_names_in_docstrings_and_comments_exist() -> None:
    prose, known = {}, set(KERNEL)
    for path in [path for folder in ("leaderboard", "evaluator", "tests") for path in (ROOT / folder).rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        known |= {path.stem, path.parent.name, *re.findall(r"\w+", PROSE.sub("", source))}
        if path.is_relative_to(ROOT / "tests") or path.parent.name == "migrations":
            continue
        for text in PROSE.findall(source):
            prose |= {match[1] or match[0]: str(path) for match in CODE_NAME.finditer("".join(text))}
    assert {name: path for name, path in prose.items() if name not in known} == {}
    assert len(prose) > 500


def test_qualified_names_in_docstrings_exist() -> None:
    names = {
        name: str(path)
        for folder in ("leaderboard", "evaluator")
        for path in (ROOT / folder).rglob("*.py")
        for text in PROSE.findall(path.read_text(encoding="utf-8"))
        for name in MODULE.findall("".join(text))
        if not name.startswith("leaderboard.jobs.")  # Celery tasks have names of this form
    }
    assert len(names) > 50
    for name, path in names.items():
        assert pkgutil.resolve_name(name), path
