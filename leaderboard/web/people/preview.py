"""The first lines of a split: what everybody may download, and what is kept back of it."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from typing import IO, Any

from leaderboard.models import GoldVersion, Split
from leaderboard.storage import opened

LINES = 8
LONGEST = 3000


def first_inputs(split: Split) -> list[str]:
    """The first lines of the public inputs, pretty-printed and cut."""
    return [pretty(value) for value in _first(split.inputs)] if split.inputs else []


def first_pairs(split: Split, gold: GoldVersion) -> list[tuple[str, str]]:
    """(public, hidden) for the first gold lines, matched by place, for the inputs are written in the gold's order."""
    public = _first(split.inputs)
    return [
        (pretty(known), pretty(hidden(whole, known))) for whole, known in zip(_first(gold.file), public, strict=False)
    ]


def hidden(whole: Any, known: Any) -> Any:
    """What `whole` has over `known`: keys that are not there, and below shared keys and list places the same."""
    if isinstance(whole, dict) and isinstance(known, dict):
        parts = {key: hidden(value, known[key]) if key in known else value for key, value in whole.items()}
        return {key: part for key, part in parts.items() if key not in known or part not in ({}, [], None)}
    if isinstance(whole, list) and isinstance(known, list) and len(whole) == len(known):
        parts = [hidden(*pair) for pair in zip(whole, known, strict=True)]
        return parts if any(part not in ({}, [], None) for part in parts) else []
    return None if whole == known else whole


def pretty(value: Any) -> str:
    """JSON for the eye, cut at LONGEST characters."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _first(stored: Any) -> list[Any]:
    with opened(stored) as file:
        file.seek(0)
        lines: IO[bytes] = gzip.GzipFile(fileobj=file) if stored.name.endswith(".gz") else file  # type: ignore[assignment]
        return [json.loads(line) for line in islice(lines, LINES)]
