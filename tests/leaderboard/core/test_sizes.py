"""Sizes have one notation, made by one filter: decimal units, three digits."""

from __future__ import annotations

import re

import pytest

from leaderboard.evaluation.container_limits_text import size
from tests.conftest import ROOT

PAGES = ROOT / "leaderboard" / "templates"


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (6_144, "6.14 kB"),
        (999_400, "999 kB"),
        (999_900, "1 MB"),
        (1_050_000, "1.05 MB"),
        (999_999_999, "1 GB"),
        (4_000_000_000, "4 GB"),
        (1_234_567_890_123, "1,235 GB"),
    ],
)
def test_a_size_has_three_digits_and_its_unit(number: int, expected: str) -> None:
    assert size(number) == expected


def test_no_page_uses_djangos_size_filter() -> None:
    """Django's own filter divides by 1,024 and writes KB."""
    texts = {path: path.read_text() for path in PAGES.rglob("*.html")}
    assert sum("|decimal" in text for text in texts.values()) > 10
    assert [path.name for path, text in texts.items() if re.search(r"filesizeformat|\d KB\b|Ki?B\b", text)] == []
