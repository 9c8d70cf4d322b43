"""Figures of speed in the documentation: each section that states some names the benchmark that prints them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIGURE = re.compile(
    r"\d (?:s|ms|minutes) of\s+processor\s+time|\| processor time, peak memory \||times as (?:fast|long)"
)
BENCHMARK = re.compile(r"tests/benchmark/(test_\w+)\.py")


def sections(text: str) -> list[str]:
    return re.split(r"^#{1,6} ", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_name_their_benchmark(page: Path) -> None:
    without = [
        section.partition("\n")[0]
        for section in sections(page.read_text())
        if FIGURE.search(section) and not BENCHMARK.search(section)
    ]
    assert without == [], "name the benchmark that prints the figures, or remove them"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_benchmarks_exist(page: Path) -> None:
    for name in BENCHMARK.findall(page.read_text()):
        assert (ROOT / "tests" / "benchmark" / f"{name}.py").is_file(), name


def test_figures_are_found() -> None:
    assert sum(len(FIGURE.findall(page.read_text())) for page in PAGES) >= 5
