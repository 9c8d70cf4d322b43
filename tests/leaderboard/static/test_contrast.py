"""Contrast of the stylesheets' colours according to WCAG 2.2, level AA."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import leaderboard

CSS = Path(leaderboard.__file__).parent / "static" / "css"
DARK = "@media (prefers-color-scheme: dark)"
TEXT = [
    ("ink", "paper"), ("ink", "card"), ("ink", "sunk"), ("soft", "paper"), ("soft", "card"), ("soft", "sunk"),
    ("accent", "paper"), ("accent", "card"), ("accent", "accent-wash"), ("on-accent", "accent"), ("held", "paper"),
    ("good", "good-wash"), ("warn", "warn-wash"), ("warn", "card"), ("bad", "bad-wash"), ("bad", "card"),
]  # fmt: skip
EDGES = [("line-strong", "card"), ("line-strong", "paper"), ("accent", "paper")]


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb (WCAG 2.2)."""
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


def tokens(mode: str) -> dict[str, str]:
    light, dark = (CSS / "holdout.css").read_text().split(DARK, 1)
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light if mode == "light" else dark.split("html {")[0]))


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrast_of_text(mode: str):
    colours = tokens(mode)
    too_faint = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in TEXT}
    assert not {pair: ratio for pair, ratio in too_faint.items() if ratio < 4.5}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrast_of_control_borders(mode: str):
    colours = tokens(mode)
    assert not [pair for pair in EDGES if contrast(colours[pair[0]], colours[pair[1]]) < 3.0]
