"""What was found out of a text, kept for when it comes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST = 1 << 22
"""Texts that are remembered: half a gigabyte of mentions. Beyond them it starts afresh, which costs time alone."""


class Memo(dict[str, Value], Generic[Value]):
    """memo[text] is work(text), done once while it is remembered."""

    def __init__(self, work: Callable[[str], Value], most: int = MOST) -> None:
        super().__init__()
        self._work = work
        self._most = most

    def __missing__(self, text: str) -> Value:
        if len(self) >= self._most:
            self.clear()
        value = self[text] = self._work(text)
        return value
