"""The bundle of tus-js-client was built from the present sources; the script sends chunks of the right size."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import leaderboard
from leaderboard.core.chunked_upload import CHUNK_BYTES

SITE = Path(leaderboard.__file__).parent
SOURCES = ("package.json", "package-lock.json", "tus.js", "build.js")
"""In the order in which build.js digests them."""


def test_the_bundle_was_built_from_the_present_sources() -> None:
    """If not: `npm ci --ignore-scripts && node node_modules/esbuild/install.js && node build.js` in that folder."""
    digest = hashlib.sha256()
    for name in SOURCES:
        digest.update((SITE / "static_src" / "tus" / name).read_bytes())
    bundle = SITE / "static" / "vendor" / "tus" / "tus.min.js"
    assert digest.hexdigest() in bundle.read_text().splitlines()[0]
    assert len(gzip.compress(bundle.read_bytes())) < 20_000


def test_the_script_sends_chunks_of_the_servers_size() -> None:
    script = (SITE / "static" / "js" / "image-upload.js").read_text()
    (size,) = re.findall(r"const CHUNK = (\w+);", script)
    assert float(size) == CHUNK_BYTES
