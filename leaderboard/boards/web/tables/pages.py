"""Pagination of tables with many systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from django.http import HttpRequest

T = TypeVar("T")
SIZE = 150
"""Systems per page, the same number as on a phase's leaderboard page."""


@dataclass(frozen=True)
class TablePage:
    """One page of a table of n systems. number: the number of the page, counted from 1."""

    n: int
    number: int

    @classmethod
    def from_request(cls, request: HttpRequest, n: int) -> TablePage:
        text = request.GET.get("page", "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
        return cls(n, max(1, min(number, ceil(n / SIZE))))

    @property
    def last(self) -> int:
        return max(1, ceil(self.n / SIZE))

    @property
    def before(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def after(self) -> int | None:
        return self.number + 1 if self.number < self.last else None

    def of(self, things: Sequence[T]) -> Sequence[T]:
        """Return the part of `things` on this page. things: one item per system, in the order of the table."""
        return things[(self.number - 1) * SIZE : self.number * SIZE]
