"""The committed bundle of Vega-Lite was built from the present sources, and plots have the site's colours."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import leaderboard
from leaderboard.plots.vega_lite import PALETTE

SITE = Path(leaderboard.__file__).parent
SOURCES = ("package.json", "package-lock.json", "vega.js", "nothing.js", "build.js")
"""In the order in which build.js digests them."""


def test_the_bundle_was_built_from_the_present_sources() -> None:
    """If not: `npm ci --ignore-scripts && node node_modules/esbuild/install.js && node build.js` in that folder."""
    digest = hashlib.sha256()
    for name in SOURCES:
        digest.update((SITE / "static_src" / "plots" / name).read_bytes())
    banner = (SITE / "static" / "vendor" / "vega" / "vega.min.js").read_text().splitlines()[0]
    assert digest.hexdigest() in banner


def test_the_bundle_and_the_script_leave_room_for_the_page() -> None:
    scripts = (SITE / "static" / "vendor" / "vega" / "vega.min.js", SITE / "static" / "js" / "plots.js")
    assert sum(len(gzip.compress(path.read_bytes())) for path in scripts) < 300_000


def test_the_palette_is_that_of_the_stylesheets() -> None:
    light: dict[str, str] = {}
    for name in ("holdout.css", "plots.css"):
        text = (SITE / "static" / "css" / name).read_text().split("@media (prefers-color-scheme: dark)")[0]
        light |= dict(re.findall(r"--([\w-]+): ([^;]+);", text))
    resolved = {name: light[light[name][6:-1]] if light[name].startswith("var(") else light[name] for name in PALETTE}
    assert resolved == PALETTE
    assert len(set(PALETTE.values())) == len(PALETTE), "plots.js replaces a colour by its variable"
