"""Hold-outs at random: groups stay whole, and every stratum has its share in every part.

Rows that are their own groups are shared out to within one, in every stratum and in all. Larger groups allow that only
nearly: they are shared out so that the squared distance of rows wanted and rows given, summed over parts and strata
(all rows being one, too), is small.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from evaluator.curation.splitting.controlled_rounding import rounded
from evaluator.errors import UsageError, shown
from evaluator.jsonl.ids import Id
from evaluator.statistics.random_streams import draws

_PASSES = 20
_ALL = object()
_Size = Sequence[tuple[Hashable, int]]
"""Rows of a group in each stratum, and in all."""


@dataclass(frozen=True)
class Holdouts:
    """part_of: each group's part. rows: how many rows of each (part, stratum)."""

    part_of: dict[Id, str]
    rows: dict[tuple[str, Hashable], int]


def holdouts(
    groups: Sequence[Id],
    strata: Sequence[Hashable] | None = None,
    *,
    shares: Mapping[str, Fraction | float | str],
    seed: int,
) -> Holdouts:
    """Shares groups out among the parts.

    groups, strata: one a row; without strata all rows are of one. shares: of the rows, each over 0, taken as the
    decimals that are written, together 1. The order of rows does not matter.
    Raises UsageError for shares that are not so, or where a part would be empty.
    """
    wanted = _shares(shares)
    if strata is None:
        strata = [None] * len(groups)
    if len(strata) != len(groups):
        raise UsageError(f"{len(groups)} rows have {len(strata)} strata, expected one each")
    sizes: dict[Id, Counter[Hashable]] = {}
    for group, stratum in zip(groups, strata, strict=True):
        sizes.setdefault(group, Counter())[stratum] += 1
    order = sorted(sizes, key=lambda group: _place(group, seed))
    share_out = _one_by_one if len(sizes) == len(groups) else _whole
    part_of = share_out(sizes, order, wanted, seed)
    for part in set(wanted) - set(part_of.values()):
        raise UsageError(f"{len(sizes)} groups leave part {shown(part)} empty, expected more groups or a larger share")
    rows = Counter((part_of[group], stratum) for group, stratum in zip(groups, strata, strict=True))
    return Holdouts(part_of, dict(rows))


def _one_by_one(
    sizes: Mapping[Id, Mapping[Hashable, int]], order: Sequence[Id], shares: Mapping[str, Fraction], seed: int
) -> dict[Id, str]:
    """Groups of one row: how many each part gets is settled for all strata together, and then which."""
    members: dict[Hashable, list[Id]] = defaultdict(list)
    for group in order:
        members[next(iter(sizes[group]))].append(group)
    totals = {stratum: len(found) for stratum, found in members.items()}
    numbers = rounded(totals, [*shares.values()], draws(seed, "holdouts"))
    part_of: dict[Id, str] = {}
    for stratum, found in members.items():
        parts = [part for part, n in zip(shares, numbers[stratum], strict=True) for _ in range(n)]
        part_of |= dict(zip(found, parts, strict=True))
    return part_of


def _whole(
    sizes: Mapping[Id, Mapping[Hashable, int]], order: Sequence[Id], shares: Mapping[str, Fraction], seed: int
) -> dict[Id, str]:
    """Each group goes where it serves best, and moves while another part serves better."""
    counted = {group: [*size.items(), (_ALL, sum(size.values()))] for group, size in sizes.items()}
    totals: Counter[Hashable] = Counter()
    for size in counted.values():
        for stratum, n in size:
            totals[stratum] += n
    sharing = _Sharing(shares, totals)
    part_of = {group: sharing.add(counted[group], _place(group, seed)[0]) for group in order}
    for _ in range(_PASSES):
        moved = False
        for group in order:
            part_of[group], changed = sharing.move(counted[group], part_of[group])
            moved |= changed
        if not moved:
            break
    return part_of


class _Sharing:
    """How far each part is over its share of each stratum; in whole numbers, of rows times a common denominator."""

    def __init__(self, shares: Mapping[str, Fraction], totals: Mapping[Hashable, int]) -> None:
        self.unit = lcm(*(share.denominator for share in shares.values()))
        self.parts = list(shares)
        self.over = {
            (part, stratum): -int(share * self.unit) * total
            for part, share in shares.items()
            for stratum, total in totals.items()
        }

    def add(self, size: _Size, turn: int) -> str:
        """turn: of parts that serve as well, which comes first."""
        first = turn % len(self.parts)
        part = min(self.parts[first:] + self.parts[:first], key=lambda part: self._cost(part, size))
        self._take(part, size, 1)
        return part

    def move(self, size: _Size, part: str) -> tuple[str, bool]:
        """The part that serves best, and whether it is another one; equal cost moves nothing."""
        self._take(part, size, -1)
        best = min(self.parts, key=lambda other: (self._cost(other, size), other != part))
        self._take(best, size, 1)
        return best, best != part

    def _cost(self, part: str, size: _Size) -> int:
        """Least where the squared distance grows least: what the group's own size adds is the same anywhere."""
        return sum(self.over[part, stratum] * n for stratum, n in size)

    def _take(self, part: str, size: _Size, sign: int) -> None:
        for stratum, n in size:
            self.over[part, stratum] += sign * n * self.unit


def _shares(shares: Mapping[str, Fraction | float | str]) -> dict[str, Fraction]:
    wanted = {}
    for part, text in shares.items():
        try:
            wanted[part] = Fraction(str(text))
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"the share of part {shown(part)} is {shown(str(text))}, expected a number") from None
    for part, share in wanted.items():
        if share <= 0:
            raise UsageError(f"the share of part {shown(part)} is {float(share):g}, expected over 0")
    if len(wanted) < 2 or sum(wanted.values()) != 1:
        raise UsageError(f"shares add up to {float(sum(wanted.values())):g}, expected two or more, together 1")
    return wanted


def _place(group: Id, seed: int) -> bytes:
    kind = "string" if isinstance(group, str) else "integer"
    return hashlib.blake2b(f"{kind} {group}".encode(), key=f"holdouts {seed}".encode()).digest()
