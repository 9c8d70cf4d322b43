"""Controlled rounding of a table of fractions: entries and column sums are rounded down or up, and row totals stay.

A solution always exists (Bacharach 1966). It is reached along cycles of entries, in which one neighbour is in the same
row and the other in the same column: an amount is added to and subtracted from the entries in turn, so that the sums of
rows and columns do not change, until one of the entries is an integer.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from math import lcm

Entry = tuple[int, int]


def round_table(
    totals: Mapping[Hashable, int], shares: Sequence[Fraction], rng: random.Random
) -> dict[Hashable, list[int]]:
    """Return, for each row, one whole number per share; the numbers of a row add up to the row's total.

    totals: name of a row -> its total. shares: the share of each column, with sum 1. Each number is the row's total
    times the column's share, rounded down or up, and so is each column sum with the sum of totals. Of the two
    directions along a cycle the one that ends nearer to the exact fractions is taken; rng breaks ties.
    """
    table = _Table([*totals.values()], shares)
    for index in range(len(totals)):
        while table.open_columns(index):
            table.push(index, rng)
    return {name: table.whole(index) for index, name in enumerate(totals)}


class _Table:
    """Table of fractions (a row's total times a column's share), stored as multiples of one over a common denominator.

    A row is added at the end, so that the sum of every column is a whole number.
    """

    def __init__(self, totals: Sequence[int], shares: Sequence[Fraction]) -> None:
        self.unit = lcm(*(share.denominator for share in shares))
        parts = [int(share * self.unit) for share in shares]
        self.targets = [[part * total for part in parts] for total in totals]
        self.targets.append([-sum(column) % self.unit for column in zip(*self.targets, strict=True)])
        self.cells = [list(row) for row in self.targets]
        self.stacks = [
            [row for row, cells in enumerate(self.cells) if cells[column] % self.unit] for column in range(len(parts))
        ]

    def open_columns(self, row: int) -> list[int]:
        """Return the columns of the row's fractional entries: none or at least two, since row sums are integers."""
        return [column for column, cell in enumerate(self.cells[row]) if cell % self.unit]

    def whole(self, row: int) -> list[int]:
        return [cell // self.unit for cell in self.cells[row]]

    def push(self, row: int, rng: random.Random) -> None:
        """Shift an amount along a cycle reached from the row, so that an entry of the cycle becomes a whole number."""
        cycle = self._cycle(row)
        up = [self.unit - self._rest(cell) if index % 2 == 0 else self._rest(cell) for index, cell in enumerate(cycle)]
        down = [
            self._rest(cell) if index % 2 == 0 else self.unit - self._rest(cell) for index, cell in enumerate(cycle)
        ]
        steps = sorted([min(up), -min(down)], key=lambda step: self._farther(cycle, step))
        if self._farther(cycle, steps[0]) == self._farther(cycle, steps[1]):
            rng.shuffle(steps)
        for index, (row_index, column) in enumerate(cycle):
            self.cells[row_index][column] += steps[0] if index % 2 == 0 else -steps[0]

    def _rest(self, entry: Entry) -> int:
        return self.cells[entry[0]][entry[1]] % self.unit

    def _farther(self, cycle: Sequence[Entry], step: int) -> int:
        """Return how much a shift by `step` along the cycle increases the squared distance from the exact fractions."""
        signs = [step if index % 2 == 0 else -step for index in range(len(cycle))]
        deviations = [self.cells[row][column] - self.targets[row][column] for row, column in cycle]
        return sum(sign * (2 * distance + sign) for sign, distance in zip(signs, deviations, strict=True))

    def _cycle(self, row: int) -> list[Entry]:
        """Return a cycle of fractional entries, reached from the row: neighbours are in one row and in one column in
        turn.
        """
        path: list[Entry] = []
        row_steps: dict[int, int] = {}
        column_steps: dict[int, int] = {}
        column = -1
        while True:
            row_steps[row] = len(path)
            column = next(other for other in self.open_columns(row) if other != column)
            path.append((row, column))
            if column in column_steps:
                return path[column_steps[column] :]
            column_steps[column] = len(path)
            row = self._other(column, row)
            path.append((row, column))
            if row in row_steps:
                return path[row_steps[row] :]

    def _other(self, column: int, row: int) -> int:
        """Return a row other than `row` whose entry in the column is fractional."""
        stack, own_rows = self.stacks[column], []
        while stack[-1] == row or not self._rest((stack[-1], column)):
            if (line := stack.pop()) == row:
                own_rows.append(line)
        other = stack[-1]
        stack += own_rows
        return other
