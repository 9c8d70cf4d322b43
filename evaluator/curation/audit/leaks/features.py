"""Public features of a split's lines that may leak hidden values: properties of texts and of further columns.

Each feature is an array with one integer code per line; lines have the same code where the feature is the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.leaks.max_t_test import Indices, encode_by_frequency
from evaluator.statistics.ngrams import tokens

_MOST = 50
_LEAST = 5
_BINS = 20
_ODD_SPACE = re.compile(r"[^\S ]|[\u200b-\u200d\u2060\ufeff]")


def column_features(values: Sequence[Any]) -> dict[str, Indices]:
    """Return the features of a column by name.

    Features: "value"; "present or missing", where null and "" count as missing; "length" of the value as JSON, in
    characters; and, if all values are numbers or numerals, "size", in up to twenty bins. Rare values and lengths share
    a code. Constant features are left out, and so are features with the same codes as an earlier one. values: one JSON
    value per line; None: the line lacks the column, or has null.
    """
    texts = [json.dumps(value, sort_keys=True, ensure_ascii=False) for value in values]
    features = {
        "value": encode_by_frequency(texts, most=_MOST, least=_LEAST),
        "present or missing": encode_by_frequency([value is None or value == "" for value in values], most=2),
        "length": encode_by_frequency([len(text) for text in texts], most=_MOST, least=_LEAST),
    }
    numbers = [_number(value) for value in values]
    if all(number is not None for number in numbers):
        features["size"] = np.unique(_bins(numbers), return_inverse=True)[1].astype(np.int64)
    return _informative(features)


def texts_by_field(split: AuditedSplit) -> dict[str, list[str]]:
    """Return a map from each text field of the split's public inputs to its texts, one per line of the split.

    The inputs are those that `Task.public_inputs` makes from the gold. A text is "" where a line lacks the field or has
    another type of value. Items of a list are separate fields: `question 1`, `question 2`.
    """
    key = split.task.id_key
    index_of = {name: index for index, name in enumerate(split.ids)}
    texts_of: dict[str, list[str]] = {}
    for raw in split.task.public_inputs(split.gold).splitlines():
        line = msgspec.json.decode(raw)
        for name, value in line.items():
            parts = (
                {f"{name} {n}": part for n, part in enumerate(value, 1)} if isinstance(value, list) else {name: value}
            )
            for field, part in parts.items():
                if name != key and isinstance(part, str):
                    texts_of.setdefault(field, [""] * len(split))[index_of[line[key]]] = part
    return texts_of


def surface_features(texts: Sequence[str], split: AuditedSplit) -> dict[str, Indices]:
    """Return the surface features of texts by name: length, last character, letter case, white space, first word.

    Constant features are left out, and so are features with the same codes as an earlier one. Lengths, letter case and
    first word are tested only for tasks in which they should not depend on the answer. texts: one per line of the
    split, from `texts_by_field`.
    """
    values: dict[str, Sequence[Hashable]] = {
        "last character": ["" if (end := text.strip()[-1:]).isalnum() else end for text in texts],
        "leading or trailing white space": [(text[:1].isspace(), text[-1:].isspace()) for text in texts],
        "unusual white space characters": [bool(_ODD_SPACE.search(text)) for text in texts],
        "double spaces": ["  " in text for text in texts],
    }
    if not split.states_facts:  # where facts are stated, longer texts with more names state more, as expected
        capitals = [sum(map(str.isupper, text)) for text in texts]
        values |= {
            "length in characters": _bins([len(text) for text in texts]).tolist(),
            "length in words": _bins([len(text.split()) for text in texts]).tolist(),
            "share of capitals": _bins(
                [n / max(len(text), 1) for n, text in zip(capitals, texts, strict=True)]
            ).tolist(),
            "case of the first letter": [text.strip()[:1].isupper() for text in texts],
        }
        if split.queried_triples is None:  # in triples the first word is part of an entity's name, which may be known
            values["first word"] = [next(iter(tokens(text)), "") for text in texts]
    return _informative(
        {name: encode_by_frequency(column, most=_MOST, least=_LEAST) for name, column in values.items()}
    )


def _informative(features: Mapping[str, Indices]) -> dict[str, Indices]:
    """Return the features without constant ones and without those that have the same codes as an earlier one."""
    name_of: dict[bytes, str] = {}
    return {
        name: codes
        for name, codes in features.items()
        if codes.max(initial=0) > 0 and name_of.setdefault(codes.tobytes(), name) == name
    }


def _bins(numbers: Sequence[float | None]) -> Indices:
    """Return the index of each number's bin: up to twenty bins with about equal counts; equal numbers share a bin."""
    values = np.array(numbers, dtype=np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
    return np.searchsorted(edges, values, side="left")


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
