"""Features of columns that the inputs have besides the task's own fields, and that may leak labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.curation.audit.leaks.max_t_test import Indices, encode_by_frequency

_MOST = 50
_LEAST = 5
_BINS = 20


def column_features(values: Sequence[Any]) -> dict[str, Indices]:
    """Return the features of a column by name, each as an array with one integer code per line.

    Lines have the same code where the feature is the same. Features: "value"; "present or missing", where null and ""
    count as missing; "length" of the value as JSON, in characters; and, if all values are numbers or numerals, "size",
    in twenty bins. Rare values and lengths share a code. Constant features are left out, and so are features with the
    same codes as an earlier one. values: one JSON value per line; None: the line lacks the column, or has null.
    """
    texts = [json.dumps(value, sort_keys=True, ensure_ascii=False) for value in values]
    features = {
        "value": encode_by_frequency(texts, most=_MOST, least=_LEAST),
        "present or missing": encode_by_frequency([value is None or value == "" for value in values], most=2),
        "length": encode_by_frequency([len(text) for text in texts], most=_MOST, least=_LEAST),
    }
    numbers = [_number(value) for value in values]
    if all(number is not None for number in numbers):
        features["size"] = _binned(np.array(numbers, dtype=np.float64))
    name_of: dict[bytes, str] = {}
    return {
        name: codes
        for name, codes in features.items()
        if codes.max(initial=0) > 0 and name_of.setdefault(codes.tobytes(), name) == name
    }


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _binned(numbers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Indices:
    """Return the index of each number's bin: up to twenty bins with about equal counts; equal numbers share a bin."""
    edges = np.unique(np.quantile(numbers, np.arange(1, _BINS) / _BINS))
    codes = np.searchsorted(edges, numbers, side="left")
    dense: Indices = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return dense
