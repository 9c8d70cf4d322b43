"""The first lines of a split: what everybody may download, and what is kept back of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from leaderboard.core.storage import opened
from leaderboard.models import GoldVersion, Split

LINES = 4
LONGEST = 3000
IDENTITIES = ("documentId", "id")
"""What a task calls an item by."""


def first_inputs(split: Split) -> list[str]:
    """The first lines of the public inputs, pretty-printed and cut."""
    return [pretty(value) for value in islice(_lines(split.inputs), LINES)] if split.inputs else []


def first_pairs(split: Split, gold: GoldVersion) -> list[tuple[str, str]]:
    """(public, hidden) for the first public lines; gold is matched by identity, for inputs may be in another order."""
    public = {_identity(line): line for line in islice(_lines(split.inputs), LINES)}
    found: dict[str, str] = {}
    for line in _lines(gold.file):
        identity = _identity(line)
        if identity in public:
            found[identity] = pretty(hidden(line, public[identity]))
        if len(found) == len(public):
            break
    return [(pretty(line), found.get(identity, "")) for identity, line in public.items()]


def sampled_pairs(split: Split, gold: GoldVersion, most: int) -> list[tuple[int, str, str]]:
    """(line, inputs as they are downloaded, what gold has over them), at even distances over the whole file."""
    n_lines = sum(1 for _ in _raw_lines(split.inputs))  # read twice: a whole file would fill the memory
    count = min(most, n_lines)
    places = {number * n_lines // count for number in range(count)}
    taken = [(place, line) for place, line in enumerate(_raw_lines(split.inputs)) if place in places]
    known = {place: json.loads(line) for place, line in taken}
    missing = {_identity(line) for line in known.values()}
    found = {}
    for line in _lines(gold.file):
        if (identity := _identity(line)) in missing:
            missing.discard(identity)
            found[identity] = line
            if not missing:
                break
    pairs = []
    for place, public in taken:
        raw = public.decode().rstrip("\n")
        cut = raw if len(raw) <= LONGEST else raw[:LONGEST] + " …"
        gold_line = found.get(_identity(known[place]))
        pairs.append((place + 1, cut, pretty(hidden(gold_line, known[place]))))
    return pairs


def hidden(whole: Any, known: Any) -> Any:
    """What `whole` has over `known`: keys that are not there, and below shared keys and list places the same."""
    if isinstance(whole, dict) and isinstance(known, dict):
        parts = {key: hidden(value, known[key]) if key in known else value for key, value in whole.items()}
        return {key: part for key, part in parts.items() if key not in known or part not in ({}, [], None)}
    if isinstance(whole, list) and isinstance(known, list) and len(whole) == len(known):
        places = [hidden(*pair) for pair in zip(whole, known, strict=True)]
        return places if any(place not in ({}, [], None) for place in places) else []
    return None if whole == known else whole


def pretty(value: Any) -> str:
    """JSON for the eye, cut at LONGEST characters."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _identity(line: dict[str, Any]) -> str:
    """As JSON, for 1 and "1" are two items."""
    return json.dumps(next((line[name] for name in IDENTITIES if name in line), None))


def _lines(stored: Any) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, _raw_lines(stored))


def _raw_lines(stored: Any) -> Iterator[bytes]:
    with opened(stored) as file:
        file.seek(0)
        yield from gzip.GzipFile(fileobj=file) if stored.name.endswith(".gz") else file
