"""Pictures of benchmarks."""

from __future__ import annotations

from django.core.files.base import ContentFile

from leaderboard.models import Benchmark, Teaser


def teaser_of(benchmark: Benchmark, *, sha256: str) -> Teaser:
    """Store a picture that no encoder has made, under a digest of one's choice."""
    content = b"\x89PNG"
    fields = {"media_type": "image/png", "width": 1200, "height": 600, "alternative_text": "Two claims and a page"}
    teaser = Teaser(benchmark=benchmark, sha256=sha256, bytes=len(content), **fields)
    teaser.file.save("picture", ContentFile(content))
    return teaser
