"""The committed JavaScript bundles were built from the present sources, and agree with the scripts that use them."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import pytest

import leaderboard
from leaderboard.core.chunked_upload import CHUNK_BYTES
from leaderboard.plots.vega_lite import PALETTE

SITE = Path(leaderboard.__file__).parent
VENDOR = SITE / "static" / "vendor"
SCRIPTS = SITE / "static" / "js"
SOURCES = ("package.json", "package-lock.json", "build.js", "nothing.js", "tus.js", "vega.js")
"""In the order in which build.js digests them."""


@pytest.mark.parametrize("bundle", ["tus/tus.min.js", "vega/vega.min.js"])
def test_a_bundle_was_built_from_the_present_sources(bundle: str) -> None:
    """If not: `npm ci --ignore-scripts && npm run build` in `leaderboard/static_src/`."""
    digest = hashlib.sha256()
    for name in SOURCES:
        digest.update((SITE / "static_src" / name).read_bytes())
    assert digest.hexdigest() in (VENDOR / bundle).read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("bundle", "script", "limit"),
    [("tus/tus.min.js", "image-upload.js", 24_000), ("vega/vega.min.js", "plots.js", 300_000)],
)
def test_a_bundle_and_its_script_leave_room_for_the_page(bundle: str, script: str, limit: int) -> None:
    assert sum(len(gzip.compress(path.read_bytes())) for path in (VENDOR / bundle, SCRIPTS / script)) < limit


def test_the_upload_script_sends_chunks_of_the_servers_size() -> None:
    (size,) = re.findall(r"const CHUNK = (\w+);", (SCRIPTS / "image-upload.js").read_text())
    assert float(size) == CHUNK_BYTES


def test_the_colours_of_plots_differ() -> None:
    assert len(set(PALETTE.values())) == len(PALETTE), "plots.js replaces a colour by its variable"
