"""What an id may be made of, and the order that ids have as numbers or as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from evaluator.curation.audit.leaks.permutation_test import Places, coded
from evaluator.jsonl.ids import Id

_MOST = 50
_LEAST = 5
_BETWEEN = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[0-9]+")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{0,99}")
_LAST = 7
"""FEVER Symmetric's written members end in 0000002, 3 or 4."""


def _number(text: str) -> int:
    found = _NUMBER.findall(text)
    return int(found[-1][-18:]) if found else -1


def _shape(text: str) -> str:
    """Which kinds of characters follow each other: `12-ab` is `9-a`."""
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
    "kinds of characters": _shape,
    "letter case": lambda text: (text.islower(), text.isupper(), sum(map(str.isupper, text))),
    "number of digits": lambda text: sum(map(str.isdecimal, text)),
}
_MODULI = range(2, 17)
_POSITIONS = 40
_RANGES = 20
_FEW = 20
"""Where a kind of character has fewer lines on average, kinds are looked at together, too."""


def id_parts(ids: Sequence[Id]) -> dict[str, Places]:
    """A code a line for each part that divides the lines; values on fewer than five lines are one."""
    texts = [str(value) for value in ids]
    found: dict[str, Places] = {}
    seen: set[bytes] = set()
    for name, values in _values(texts):
        codes = coded(values, most=_MOST, least=_LEAST)
        if codes.max(initial=0) > 0 and codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            found[name] = codes
    return found


def _values(texts: Sequence[str]) -> Iterator[tuple[str, Sequence[Hashable]]]:
    """Each part's name, and what it is on each line."""
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
    for place in range(longest):
        yield from _character(f"character {place + 1}", [text[place : place + 1] for text in texts])
    if len({*map(len, texts)}) > 1:
        for place in range(1, longest + 1):
            yield from _character(
                f"character {place} from the end", [text[-place:][: place <= len(text)] for text in texts]
            )


def _character(name: str, values: Sequence[str]) -> Iterator[tuple[str, Sequence[Hashable]]]:
    yield name, values
    kinds = sorted({*values})
    if len(kinds) > 2 and len(values) < _FEW * len(kinds):
        place = {kind: number for number, kind in enumerate(kinds)}
        yield f"{name}, the first half of its kinds", [2 * place[value] < len(kinds) for value in values]
        yield f"{name}, every other kind", [place[value] % 2 for value in values]


def _range(values: Sequence[int]) -> list[int]:
    """Twenty ranges of as many lines; equal numbers share one."""
    place = {value: number for number, value in enumerate(sorted({*values}))}
    return [place[value] * _RANGES // len(place) for value in values]


def id_order(ids: Sequence[Id]) -> Places:
    """Places of lines in the order of their ids: runs of digits as numbers, all else as text."""
    keys = [[(0, int(p[:400]), "") if p.isdecimal() else (1, 0, p) for p in _runs(str(value))] for value in ids]
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)


def _runs(text: str) -> list[str]:
    return [part for part in re.split(r"([0-9]+)", text) if part]
