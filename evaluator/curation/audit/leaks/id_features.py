"""Features of ids that may leak labels: parts of the ids, and the order of lines by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from evaluator.curation.audit.leaks.max_t_test import Indices, encode_by_frequency
from evaluator.jsonl.ids import Id

_MOST = 50
_LEAST = 5
_BETWEEN = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[0-9]+")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{0,99}")
_LAST = 7
"""Length of the longest suffix tested: in FEVER Symmetric, generated ids end in 0000002, 0000003 or 0000004."""


def _number(text: str) -> int:
    """Return the last number in the text, of which only the last 18 digits count; -1 for a text without digits."""
    numbers = _NUMBER.findall(text)
    return int(numbers[-1][-18:]) if numbers else -1


def _shape(text: str) -> str:
    """Return the text with each run of letters as `a` and each run of digits as `9`: `12-ab` becomes `9-a`."""
    return re.sub(r"9+", "9", re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]", "9", text)))[:40]


_PARTS: dict[str, Callable[[str], object]] = {
    "length": len,
    "first character": lambda text: text[:1],
    "first two characters": lambda text: text[:2],
    "last character": lambda text: text[-1:],
    "last two characters": lambda text: text[-2:],
    f"last {_LAST} characters": lambda text: text[-_LAST:],
    "part before the first separator": lambda text: _BETWEEN.split(text)[0],
    "part after the last separator": lambda text: _BETWEEN.split(text)[-1],
    "pattern of character classes": _shape,
    "letter case": lambda text: (text.islower(), text.isupper(), sum(map(str.isupper, text))),
    "number of digits": lambda text: sum(map(str.isdecimal, text)),
}
_MODULI = range(2, 17)
_POSITIONS = 40
_RANGES = 20
_FEW = 20
"""If there are fewer lines than this per distinct character, characters are also tested merged into two classes."""


def id_parts(ids: Sequence[Id]) -> dict[str, Indices]:
    """Return the features of ids by name, each as an array with one integer code per line.

    A feature is a part or a property of the id, such as its length. Lines on which it is equal have the same code;
    values on fewer than five lines share a code. Constant features are left out, and so are features with the same
    codes as an earlier one.
    """
    texts = [str(value) for value in ids]
    codes_of: dict[str, Indices] = {}
    seen: set[bytes] = set()
    for name, values in _values(texts):
        codes = encode_by_frequency(values, most=_MOST, least=_LEAST)
        if codes.max(initial=0) > 0 and codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            codes_of[name] = codes
    return codes_of


def _values(texts: Sequence[str]) -> Iterator[tuple[str, Sequence[Hashable]]]:
    """Yield (name of a feature, its value for each of the texts, in order). texts: the ids as text."""
    for name, part in _PARTS.items():
        yield name, [part(text) for text in texts]
    numbers = [("last number", [_number(text) for text in texts])]
    if all(_HEXADECIMAL.fullmatch(text) for text in texts):
        numbers.append(("hexadecimal number", [int(text.replace("-", ""), 16) for text in texts]))
    for name, values in numbers:
        for modulus in _MODULI:
            yield f"{name} modulo {modulus}", [value % modulus for value in values]
        yield f"range of the {name}", _range(values)
    longest = min(max(map(len, texts), default=0), _POSITIONS)
    for position in range(longest):
        yield from _character(f"character {position + 1}", [text[position : position + 1] for text in texts])
    if len({*map(len, texts)}) > 1:
        for position in range(1, longest + 1):
            yield from _character(
                f"character {position} from the end", [text[-position:][: position <= len(text)] for text in texts]
            )


def _character(name: str, values: Sequence[str]) -> Iterator[tuple[str, Sequence[Hashable]]]:
    yield name, values
    kinds = sorted({*values})
    if len(kinds) > 2 and len(values) < _FEW * len(kinds):
        rank = {kind: number for number, kind in enumerate(kinds)}
        yield f"{name}, first half of its values", [2 * rank[value] < len(kinds) for value in values]
        yield f"{name}, every other value", [rank[value] % 2 for value in values]


def _range(values: Sequence[int]) -> list[int]:
    """Return the index of each value's range, 0 to 19: each range has a twentieth of the distinct values, in order."""
    rank = {value: number for number, value in enumerate(sorted({*values}))}
    return [rank[value] * _RANGES // len(rank) for value in values]


def id_order(ids: Sequence[Id]) -> Indices:
    """Return the indices of lines in the order of their ids: runs of digits compare as numbers, all else as text."""
    keys = [[(0, int(p[:400]), "") if p.isdecimal() else (1, 0, p) for p in _runs(str(value))] for value in ids]
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)


def _runs(text: str) -> list[str]:
    return [part for part in re.split(r"([0-9]+)", text) if part]
