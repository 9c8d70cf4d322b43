"""Figures of speed in the documentation: each section that states some names the benchmark that prints them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIGURE = re.compile(
    r"\d (?:s|ms|minutes) of\s+processor\s+time|\| processor time, peak memory \||times as (?:fast|long)"
)
BENCHMARK = re.compile(r"tests/benchmark/(test_\w+)\.py")


def sections(text: str) -> list[str]:
    return re.split(r"^#{1,6} ", text, flags=re.MULTILINE)


def test_figures_name_their_benchmark() -> None:
    without = [
        f"{page.name}: " + section.partition("\n")[0]
        for page in PAGES
        for section in sections(page.read_text())
        if FIGURE.search(section) and not BENCHMARK.search(section)
    ]
    assert without == [], "name the benchmark that prints the figures, or remove them"


def test_figures_are_found() -> None:
    assert sum(len(FIGURE.findall(page.read_text())) for page in PAGES) >= 5
