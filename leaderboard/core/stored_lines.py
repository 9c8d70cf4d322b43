"""Lines of stored JSON Lines files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

from leaderboard.core.storage import opened


def lines(stored: Any) -> Iterator[dict[str, Any]]:
    """Yield the parsed lines of a stored JSON Lines file. stored: FieldFile, the value of a model's file field."""
    yield from map(json.loads, raw_lines(stored))


def raw_lines(stored: Any) -> Iterator[bytes]:
    """Yield the lines of a stored file, decompressed if its name ends in .gz.

    stored: FieldFile, the value of a model's file field.
    """
    with opened(stored) as file:
        file.seek(0)
        yield from gzip.GzipFile(fileobj=file) if stored.name.endswith(".gz") else file
