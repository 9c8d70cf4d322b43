"""Whole numbers for a table of shares, so that cells and the sums of its columns are within one of theirs.

There always are such (controlled rounding: Bacharach 1966). They are reached along cycles: what goes into a cell comes
out of the next one of its row, and so on, until a cell is whole.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import lcm

Cell = tuple[int, int]


def rounded(
    totals: Mapping[Hashable, int], shares: Sequence[Fraction], rng: random.Random
) -> dict[Hashable, list[int]]:
    """For each row, one whole number a share; they add up to the row's total.

    totals: whole numbers. shares: together 1. Each number, and each sum of a column, is the share's rounded down or up.
    Of two ways along a cycle the one that ends nearer to the shares is taken; rng decides between equal ones.
    """
    table = _Table([*totals.values()], shares)
    for row in range(len(totals)):
        while table.open_columns(row):
            table.push(row, rng)
    return {name: table.whole(row) for row, name in enumerate(totals)}


class _Table:
    """Cells in units of the common denominator. The last row fills every column up to a whole number."""

    def __init__(self, totals: Sequence[int], shares: Sequence[Fraction]) -> None:
        self.unit = lcm(*(share.denominator for share in shares))
        parts = [int(share * self.unit) for share in shares]
        self.wanted = [[part * total for part in parts] for total in totals]
        self.wanted.append([-sum(column) % self.unit for column in zip(*self.wanted, strict=True)])
        self.cells = [list(row) for row in self.wanted]
        self.stacks = [
            [row for row, cells in enumerate(self.cells) if cells[column] % self.unit] for column in range(len(parts))
        ]

    def open_columns(self, row: int) -> list[int]:
        """Where the row is not whole: nowhere or in two columns at least, since all sums are whole."""
        return [column for column, cell in enumerate(self.cells[row]) if cell % self.unit]

    def whole(self, row: int) -> list[int]:
        return [cell // self.unit for cell in self.cells[row]]

    def push(self, row: int, rng: random.Random) -> None:
        """Makes one cell of a cycle near the row whole."""
        cycle = self._cycle(row)
        up = [self.unit - self._rest(cell) if place % 2 == 0 else self._rest(cell) for place, cell in enumerate(cycle)]
        down = [
            self._rest(cell) if place % 2 == 0 else self.unit - self._rest(cell) for place, cell in enumerate(cycle)
        ]
        steps = sorted([min(up), -min(down)], key=lambda step: self._farther(cycle, step))
        if self._farther(cycle, steps[0]) == self._farther(cycle, steps[1]):
            rng.shuffle(steps)
        for place, (line, column) in enumerate(cycle):
            self.cells[line][column] += steps[0] if place % 2 == 0 else -steps[0]

    def _rest(self, cell: Cell) -> int:
        return self.cells[cell[0]][cell[1]] % self.unit

    def _farther(self, cycle: Sequence[Cell], step: int) -> int:
        """By how much the squared distance from the shares grows."""
        signs = [step if place % 2 == 0 else -step for place in range(len(cycle))]
        off = [self.cells[row][column] - self.wanted[row][column] for row, column in cycle]
        return sum(sign * (2 * distance + sign) for sign, distance in zip(signs, off, strict=True))

    def _cycle(self, row: int) -> list[Cell]:
        """Cells that are not whole, by turns in one row and in one column with the next."""
        walk: list[Cell] = []
        left: dict[int, int] = {}
        entered: dict[int, int] = {}
        column = -1
        while True:
            left[row] = len(walk)
            column = next(other for other in self.open_columns(row) if other != column)
            walk.append((row, column))
            if column in entered:
                return walk[entered[column] :]
            entered[column] = len(walk)
            row = self._other(column, row)
            walk.append((row, column))
            if row in left:
                return walk[left[row] :]

    def _other(self, column: int, row: int) -> int:
        """Another row that is not whole in the column."""
        stack, kept = self.stacks[column], []
        while stack[-1] == row or not self._rest((stack[-1], column)):
            if (line := stack.pop()) == row:
                kept.append(line)
        other = stack[-1]
        stack += kept
        return other
