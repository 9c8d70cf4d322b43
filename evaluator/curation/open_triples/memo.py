"""Memoisation of functions of one text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST = 1 << 22
"""Maximum number of cached texts, about half a gigabyte of mentions. A full cache is cleared, which only costs time."""


class Memo(dict[str, Value], Generic[Value]):
    """Cache of a function of one text: memo[text] is work(text). most: the maximum number of cached texts."""

    def __init__(self, work: Callable[[str], Value], most: int = MOST) -> None:
        super().__init__()
        self._work = work
        self._most = most

    def __missing__(self, text: str) -> Value:
        if len(self) >= self._most:
            self.clear()
        value = self[text] = self._work(text)
        return value
