"""Surface features of texts: length, last character, letter case, white space, first word."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np

from evaluator.curation.audit.leaks.max_t_test import Indices, encode_by_frequency
from evaluator.statistics.ngrams import tokens
from evaluator.tasks.audit.split import Split

_MOST = 50
_LEAST = 5
_BINS = 20
_ODD_SPACE = re.compile(r"[^\S ]|[\u200b-\u200d\u2060\ufeff]")


def texts_by_field(split: Split) -> dict[str, list[str]]:
    """Return field of the inputs -> its text on each line of the split ("" if there is none), as the server writes it.

    Items of a list are separate fields: `question 1`, `question 2`.
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


def surface_features(texts: Sequence[str], split: Split) -> dict[str, Indices]:
    """Return the surface features of texts by name, each as an array with one integer code per line.

    Lines have the same code where the feature is the same. Constant features are left out, and so are features with the
    same codes as an earlier one. texts: one per line of the split, from `texts_by_field`.
    """
    kinds: dict[str, Sequence[Hashable]] = {
        "last character": ["" if (end := text.strip()[-1:]).isalnum() else end for text in texts],
        "leading or trailing white space": [(text[:1].isspace(), text[-1:].isspace()) for text in texts],
        "unusual white space characters": [bool(_ODD_SPACE.search(text)) for text in texts],
        "double spaces": ["  " in text for text in texts],
    }
    if not split.states_facts:  # where facts are stated, longer texts with more names state more, as expected
        capitals = [sum(map(str.isupper, text)) for text in texts]
        kinds |= {
            "length in characters": _ranges([len(text) for text in texts]),
            "length in words": _ranges([len(text.split()) for text in texts]),
            "share of capitals": _ranges([n / max(len(text), 1) for n, text in zip(capitals, texts, strict=True)]),
            "case of the first letter": [text.strip()[:1].isupper() for text in texts],
        }
        if split.queried_triples is None:  # in triples the first word is part of an entity's name, which may be known
            kinds["first word"] = [next(iter(tokens(text)), "") for text in texts]
    seen: set[bytes] = set()
    codes_of: dict[str, Indices] = {}
    for name, values in kinds.items():
        codes = encode_by_frequency(values, most=_MOST, least=_LEAST)
        if codes.max(initial=0) > 0 and codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            codes_of[name] = codes
    return codes_of


def _ranges(values: Sequence[float]) -> list[int]:
    """Return the index of each value's range: up to twenty ranges with about equal counts; equal values share one."""
    numbers = np.array(values, dtype=np.float64)
    edges = np.unique(np.quantile(numbers, np.arange(1, _BINS) / _BINS))
    return [int(code) for code in np.searchsorted(edges, numbers, side="left")]
