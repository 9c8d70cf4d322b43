"""Slices of a gold: their type, and their forms as shown, as database keys and as URL parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Slice = tuple[tuple[str, str], ...]
"""(dimension, value as shown) pairs, sorted by dimension; the whole is ()."""

WHOLE: Slice = ()


def slice_of(named: Mapping[str, object]) -> Slice:
    """Convert a stored slice to a `Slice`."""
    return tuple(sorted((name, shown(value)) for name, value in named.items()))


def shown(value: object) -> str:
    """Format a slice's value for a board: strings unchanged, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def slice_key(slice_: Slice) -> str:
    """Serialize a slice for the database: canonical JSON; empty for the whole."""
    return _json(dict(slice_)) if slice_ else ""


def dimensions_key(slice_: Slice) -> str:
    """Serialize a slice's dimensions for the database: a JSON list; empty for the whole."""
    return _json([name for name, _ in slice_]) if slice_ else ""


@lru_cache(maxsize=10_000)
def parse_slice_key(key: str) -> Slice:
    """Parse a slice from the output of `slice_key`."""
    return tuple(sorted(json.loads(key).items())) if key else WHOLE


def raw_slice_key(slice_: Mapping[str, Any]) -> str:
    """Serialize a scorer's slice, whose values are not formatted yet: canonical JSON; empty for the whole."""
    return _json(slice_) if slice_ else ""


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def url_text(slice_: Slice) -> str:
    """Return a one-way slice as text for a URL, parsed by `parse_url_text`; empty for the whole."""
    return json.dumps(slice_[0], ensure_ascii=False) if slice_ else ""


def parse_url_text(text: str | None) -> Slice:
    """Parse a one-way slice from `["dimension", "value"]`; any other text is the whole."""
    try:
        name, value = json.loads(text or "")
    except (ValueError, TypeError, RecursionError):
        return WHOLE
    return ((name, value),) if isinstance(name, str) and isinstance(value, str) else WHOLE
