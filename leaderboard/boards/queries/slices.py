"""Slices of gold: their type, and their text forms for display, database keys and URL parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Slice = tuple[tuple[str, str], ...]
"""(dimension, value as text) pairs, sorted by dimension; () is the whole, that is, all gold units."""

WHOLE: Slice = ()


def slice_of(named: Mapping[str, object]) -> Slice:
    """Convert a slice that is stored as {dimension: value} to a `Slice`."""
    return tuple(sorted((name, shown(value)) for name, value in named.items()))


def shown(value: object) -> str:
    """Format a dimension's value for a board: strings unchanged, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def slice_key(slice_: Slice) -> str:
    """Serialize a slice for the database: canonical JSON {dimension: value}; empty for the slice of all units."""
    return _json(dict(slice_)) if slice_ else ""


def dimensions_key(slice_: Slice) -> str:
    """Serialize a slice's dimensions for the database: a JSON list; empty for the slice of all units."""
    return _json([name for name, _ in slice_]) if slice_ else ""


@lru_cache(maxsize=10_000)
def parse_slice_key(key: str) -> Slice:
    """Parse a slice from the output of `slice_key`."""
    return tuple(sorted(json.loads(key).items())) if key else WHOLE


def raw_slice_key(slice_: Mapping[str, Any]) -> str:
    """Serialize a slice of a scorer's report: canonical JSON {dimension: value}; empty for the slice of all units.

    Its values may be numbers, true or false, which `shown` has not formatted as text yet; they stay as they are.
    """
    return _json(slice_) if slice_ else ""


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def url_text(slice_: Slice) -> str:
    """Return a slice of one dimension as text for a URL, which `parse_url_text` parses; empty for all units."""
    return json.dumps(slice_[0], ensure_ascii=False) if slice_ else ""


def parse_url_text(text: str | None) -> Slice:
    """Parse a slice of one dimension from `["dimension", "value"]`; return WHOLE (all units) for any other text."""
    try:
        name, value = json.loads(text or "")
    except (ValueError, TypeError, RecursionError):
        return WHOLE
    return ((name, value),) if isinstance(name, str) and isinstance(value, str) else WHOLE
