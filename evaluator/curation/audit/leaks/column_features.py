"""Features of extra columns, besides the task's inputs, that may leak hidden values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.curation.audit.leaks.permutation_test import Indices, encode

_MOST = 50
_LEAST = 5
_BINS = 20


def column_codes(values: Sequence[Any]) -> dict[str, Indices]:
    """Return codes, one per line, for the value, its presence, its length, and its size where all are numbers.

    values: JSON values; None: missing. Constant features are left out.
    """
    texts = [json.dumps(value, sort_keys=True, ensure_ascii=False) for value in values]
    features = {
        "value": encode(texts, most=_MOST, least=_LEAST),
        "present or missing": encode([value is None or value == "" for value in values], most=2),
        "length": encode([len(text) for text in texts], most=_MOST, least=_LEAST),
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
    """Return codes of twenty bins with equal numbers of lines; equal values share a bin."""
    edges = np.unique(np.quantile(numbers, np.arange(1, _BINS) / _BINS))
    codes = np.searchsorted(edges, numbers, side="left")
    dense: Indices = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return dense
