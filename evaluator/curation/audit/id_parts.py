"""What an id may be made of, and the order that ids have as numbers or as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from evaluator.curation.audit.exchanges import Places, coded
from evaluator.identifiers import Id

_MOST = 50
_LEAST = 5
_BETWEEN = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[0-9]+")
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
    "parity of the last number": lambda text: _number(text) % 2,
    "last number modulo 3": lambda text: _number(text) % 3,
    "last number modulo 4": lambda text: _number(text) % 4,
    "kinds of characters": _shape,
}


def id_parts(ids: Sequence[Id]) -> dict[str, Places]:
    """A code a line for each part that divides the lines; values on fewer than five lines are one."""
    texts = [str(value) for value in ids]
    found: dict[str, Places] = {}
    seen: set[bytes] = set()
    for name, part in _PARTS.items():
        codes = coded([part(text) for text in texts], most=_MOST, least=_LEAST)
        if codes.max(initial=0) > 0 and codes.tobytes() not in seen:
            seen.add(codes.tobytes())
            found[name] = codes
    return found


def id_order(ids: Sequence[Id]) -> Places:
    """Places of lines in the order of their ids: runs of digits as numbers, all else as text."""
    keys = [[(0, int(p[:400]), "") if p.isdecimal() else (1, 0, p) for p in _runs(str(value))] for value in ids]
    return np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)


def _runs(text: str) -> list[str]:
    return [part for part in re.split(r"([0-9]+)", text) if part]
