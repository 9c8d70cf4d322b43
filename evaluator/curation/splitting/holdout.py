"""Random hold-out splits: groups stay whole, and every stratum has its share in every part.

If every group has one row, each part has its share to within one row, in every stratum and overall. Larger groups allow
that only approximately: they are assigned so that the squared difference between target and actual number of rows,
summed over parts and strata (all rows count as one more stratum), is small.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from evaluator.curation.splitting.controlled_rounding import round_table
from evaluator.curation.splitting.shares import parse_share
from evaluator.errors import UsageError, shown
from evaluator.jsonl.ids import Id
from evaluator.statistics.random_streams import random_stream

_PASSES = 20
_ALL = object()
_Size = Sequence[tuple[Hashable, int]]
"""Pairs (stratum, number of a group's rows in it); the stratum _ALL stands for all rows."""


@dataclass(frozen=True)
class Holdouts:
    """A hold-out split.

    part_of: group -> name of its part, such as test. rows: (part, stratum) -> its number of rows.
    """

    part_of: dict[Id, str]
    rows: dict[tuple[str, Hashable], int]


def holdouts(
    groups: Sequence[Id],
    strata: Sequence[Hashable] | None = None,
    *,
    shares: Mapping[str, Fraction | float | str],
    seed: int,
) -> Holdouts:
    """Assign groups to parts at random, so that each part has about its share of every stratum.

    groups, strata: one per row; strata None: all rows are in one stratum. shares: name of a part -> its share of the
    rows, above 0, with sum 1, read exactly as its decimal is written. The order of rows does not matter. Raises
    UsageError for invalid shares, or where a part would be empty.
    """
    fractions = _shares(shares)
    if strata is None:
        strata = [None] * len(groups)
    if len(strata) != len(groups):
        raise UsageError(f"{len(groups)} rows have {len(strata)} strata, expected one stratum for each row")
    sizes: dict[Id, Counter[Hashable]] = {}
    for group, stratum in zip(groups, strata, strict=True):
        sizes.setdefault(group, Counter())[stratum] += 1
    order = sorted(sizes, key=lambda group: _sort_key(group, seed))
    allocate = _one_by_one if len(sizes) == len(groups) else _whole
    part_of = allocate(sizes, order, fractions, seed)
    for part in set(fractions) - set(part_of.values()):
        raise UsageError(f"{len(sizes)} groups leave part {shown(part)} empty, expected more groups or a larger share")
    rows = Counter((part_of[group], stratum) for group, stratum in zip(groups, strata, strict=True))
    return Holdouts(part_of, dict(rows))


def _one_by_one(
    sizes: Mapping[Id, Mapping[Hashable, int]], order: Sequence[Id], shares: Mapping[str, Fraction], seed: int
) -> dict[Id, str]:
    """Return group -> part for groups of one row each.

    How many rows of each stratum each part gets is decided first, then which rows. sizes: group -> number of its rows
    by stratum. order: the groups in random order. shares: name of a part -> its share.
    """
    members: dict[Hashable, list[Id]] = defaultdict(list)
    for group in order:
        members[next(iter(sizes[group]))].append(group)
    totals = {stratum: len(groups) for stratum, groups in members.items()}
    numbers = round_table(totals, [*shares.values()], random_stream(seed, "holdouts"))
    part_of: dict[Id, str] = {}
    for stratum, groups in members.items():
        parts = [part for part, n in zip(shares, numbers[stratum], strict=True) for _ in range(n)]
        part_of |= dict(zip(groups, parts, strict=True))
    return part_of


def _whole(
    sizes: Mapping[Id, Mapping[Hashable, int]], order: Sequence[Id], shares: Mapping[str, Fraction], seed: int
) -> dict[Id, str]:
    """Return group -> part: each group goes to the part with the lowest cost, then groups move while that lowers costs.

    sizes: group -> number of its rows by stratum. order: the groups in random order. shares: name of a part -> its
    share. Costs are those of `_PartExcess`.
    """
    counted = {group: [*size.items(), (_ALL, sum(size.values()))] for group, size in sizes.items()}
    totals: Counter[Hashable] = Counter()
    for size in counted.values():
        for stratum, n in size:
            totals[stratum] += n
    sharing = _PartExcess(shares, totals)
    part_of = {group: sharing.add(counted[group], _sort_key(group, seed)[0]) for group in order}
    for _ in range(_PASSES):
        moved = False
        for group in order:
            part_of[group], changed = sharing.move(counted[group], part_of[group])
            moved |= changed
        if not moved:
            break
    return part_of


class _PartExcess:
    """Excess of each part: its number of rows in each stratum, less its share of the stratum.

    The numbers are rows times the shares' common denominator, so that they are integers.
    """

    def __init__(self, shares: Mapping[str, Fraction], totals: Mapping[Hashable, int]) -> None:
        self.unit = lcm(*(share.denominator for share in shares.values()))
        self.parts = list(shares)
        self.over = {
            (part, stratum): -int(share * self.unit) * total
            for part, share in shares.items()
            for stratum, total in totals.items()
        }

    def add(self, size: _Size, turn: int) -> str:
        """Assign a group to the part with the lowest `_cost`; return the part.

        size: the group's number of rows in each stratum. turn: decides which part wins ties.
        """
        first = turn % len(self.parts)
        part = min(self.parts[first:] + self.parts[:first], key=lambda part: self._cost(part, size))
        self._take(part, size, 1)
        return part

    def move(self, size: _Size, part: str) -> tuple[str, bool]:
        """Move a group from `part` to the part with the lowest `_cost`; return (this part, True if it is not `part`).

        size: the group's number of rows in each stratum. On a tie the group stays where it is.
        """
        self._take(part, size, -1)
        best = min(self.parts, key=lambda other: (self._cost(other, size), other != part))
        self._take(best, size, 1)
        return best, best != part

    def _cost(self, part: str, size: _Size) -> int:
        """Return the cost of assigning a group to a part; the part with the lowest cost takes the group.

        It is the increase of the squared difference between the part's actual and target rows, up to a constant factor,
        and without the term of the group's own size, which is equal for all parts.
        """
        return sum(self.over[part, stratum] * n for stratum, n in size)

    def _take(self, part: str, size: _Size, sign: int) -> None:
        for stratum, n in size:
            self.over[part, stratum] += sign * n * self.unit


def _shares(shares: Mapping[str, Fraction | float | str]) -> dict[str, Fraction]:
    fractions = {}
    for part, text in shares.items():
        try:
            fractions[part] = parse_share(text)
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"the share of part {shown(part)} is {shown(str(text))}, expected a number") from None
    for part, share in fractions.items():
        if share <= 0:
            raise UsageError(
                f"the share of part {shown(part)} is {shown(str(shares[part]))}, expected a number above 0"
            )
    if len(fractions) < 2:
        raise UsageError(f"the number of parts is {len(fractions)}, expected 2 or more")
    total = sum(fractions.values())
    if total != 1:
        given = shown(", ".join(map(str, shares.values())))
        raise UsageError(f"the shares {given} add up to {'less' if total < 1 else 'more'} than 1, expected exactly 1")
    return fractions


def _sort_key(group: Id, seed: int) -> bytes:
    kind = "string" if isinstance(group, str) else "integer"
    return hashlib.blake2b(f"{kind} {group}".encode(), key=f"holdouts {seed}".encode()).digest()
