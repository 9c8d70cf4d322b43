"""Previews of a split: some lines of the inputs, each with the values that the gold adds to the line."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from leaderboard.core.stored_lines import lines, raw_lines
from leaderboard.models import GoldVersion, Split

LINES = 4
LONGEST = 3000
IDENTITIES = ("documentId", "id")
"""Names of the field that identifies an item, in order of precedence."""


def first_inputs(split: Split) -> list[str]:
    """Return the first LINES lines of the split's inputs, each as indented JSON, truncated to LONGEST characters.

    Empty if the split has no inputs.
    """
    return [pretty(value) for value in islice(lines(split.inputs), LINES)] if split.inputs else []


def first_pairs(split: Split, gold: GoldVersion) -> list[tuple[str, str]]:
    """Return (line of the inputs, what gold adds to it) for the first LINES lines of the inputs, as indented JSON.

    Lines are matched by the item's id, since the gold file may be in another order. The second text is empty for an
    item without a gold line.
    """
    public = {_identity(line): line for line in islice(lines(split.inputs), LINES)}
    gold_texts: dict[str, str] = {}
    for line in lines(gold.file):
        identity = _identity(line)
        if identity in public:
            gold_texts[identity] = pretty(hidden(line, public[identity]))
        if len(gold_texts) == len(public):
            break
    return [(pretty(line), gold_texts.get(identity, "")) for identity, line in public.items()]


def sampled_pairs(split: Split, gold: GoldVersion, most: int) -> list[tuple[int, str, str]]:
    """Return (line number, line of the inputs, what gold adds to it) for up to `most` evenly spaced lines.

    Line numbers start at 1. The line is as in the file, the third text indented JSON; both are truncated to LONGEST
    characters.
    """
    n_lines = sum(1 for _ in raw_lines(split.inputs))  # The file is read twice, so that it is never held in memory.
    count = min(most, n_lines)
    indices = {number * n_lines // count for number in range(count)}
    sampled = [(index, line) for index, line in enumerate(raw_lines(split.inputs)) if index in indices]
    public_lines = {index: json.loads(line) for index, line in sampled}
    missing = {_identity(line) for line in public_lines.values()}
    gold_lines = {}
    for line in lines(gold.file):
        if (identity := _identity(line)) in missing:
            missing.discard(identity)
            gold_lines[identity] = line
            if not missing:
                break
    pairs = []
    for index, public in sampled:
        raw = public.decode().rstrip("\n")
        shown = raw if len(raw) <= LONGEST else raw[:LONGEST] + " …"
        gold_line = gold_lines.get(_identity(public_lines[index]))
        pairs.append((index + 1, shown, pretty(hidden(gold_line, public_lines[index]))))
    return pairs


def hidden(whole: Any, known: Any) -> Any:
    """Return the part of the JSON value `whole`, a gold line, that `known`, the input line of the same item, lacks.

    Of an object these are the keys that `known` lacks; shared keys and lists of equal length are compared recursively.
    None if the two values are equal and not objects or lists.
    """
    if isinstance(whole, dict) and isinstance(known, dict):
        parts = {key: hidden(value, known[key]) if key in known else value for key, value in whole.items()}
        return {key: part for key, part in parts.items() if key not in known or part not in ({}, [], None)}
    if isinstance(whole, list) and isinstance(known, list) and len(whole) == len(known):
        items = [hidden(*pair) for pair in zip(whole, known, strict=True)]
        return items if any(item not in ({}, [], None) for item in items) else []
    return None if whole == known else whole


def pretty(value: Any) -> str:
    """Return a value as indented JSON, truncated to LONGEST characters."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _identity(line: dict[str, Any]) -> str:
    """Return the id of an item as JSON text, so that the ids 1 and "1" are different; `null` if there is no id."""
    return json.dumps(next((line[name] for name in IDENTITIES if name in line), None))
