"""Hold-outs at random: groups stay whole, and every stratum has its share in every part.

Both at once can be had only nearly: groups are shared out so that the squared distance of rows wanted and rows given,
summed over parts and strata, is small. Rows that are their own groups are shared out to within one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from evaluator.errors import UsageError, shown
from evaluator.identifiers import Id

_PASSES = 20


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
    decimals that are written, together 1. The order of rows does not matter, save for the order of strata.
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
    sharing = _Sharing(wanted, Counter(strata))
    part_of = {group: sharing.add(sizes[group]) for group in order}
    for _ in range(_PASSES):
        moved = False
        for group in order:
            part_of[group], changed = sharing.move(sizes[group], part_of[group])
            moved |= changed
        if not moved:
            break
    for part in set(wanted) - set(part_of.values()):
        raise UsageError(f"{len(sizes)} groups leave part {shown(part)} empty, expected more groups or a larger share")
    return Holdouts(part_of, {key: n for key, n in sharing.rows.items() if n})


class _Sharing:
    """How far each part is over its share of each stratum; in whole numbers, of rows times a common denominator."""

    def __init__(self, shares: Mapping[str, Fraction], totals: Mapping[Hashable, int]) -> None:
        self.unit = lcm(*(share.denominator for share in shares.values()))
        self.parts = list(shares)
        self.rows: Counter[tuple[str, Hashable]] = Counter()
        self.over = {
            (part, stratum): -int(share * self.unit) * total
            for part, share in shares.items()
            for stratum, total in totals.items()
        }

    def add(self, size: Mapping[Hashable, int]) -> str:
        part = min(self.parts, key=lambda part: self._cost(part, size))
        self._take(part, size, 1)
        return part

    def move(self, size: Mapping[Hashable, int], part: str) -> tuple[str, bool]:
        """The part that serves best, and whether it is another one; equal cost moves nothing."""
        self._take(part, size, -1)
        best = min(self.parts, key=lambda other: (self._cost(other, size), other != part))
        self._take(best, size, 1)
        return best, best != part

    def _cost(self, part: str, size: Mapping[Hashable, int]) -> int:
        """Least where the squared distance grows least: what the group's own size adds is the same anywhere."""
        return sum(self.over[part, stratum] * n for stratum, n in size.items())

    def _take(self, part: str, size: Mapping[Hashable, int], sign: int) -> None:
        for stratum, n in size.items():
            self.over[part, stratum] += sign * n * self.unit
            self.rows[part, stratum] += sign * n


def _shares(shares: Mapping[str, Fraction | float | str]) -> dict[str, Fraction]:
    try:
        wanted = {part: Fraction(str(share)) for part, share in shares.items()}
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"shares are {shown(str(dict(shares)))}, expected numbers") from None
    if len(wanted) < 2 or min(wanted.values()) <= 0 or sum(wanted.values()) != 1:
        raise UsageError(
            f"shares add up to {float(sum(wanted.values())):g}, expected two or more, each over 0, together 1"
        )
    return wanted


def _place(group: Id, seed: int) -> bytes:
    kind = "string" if isinstance(group, str) else "integer"
    return hashlib.blake2b(f"{kind} {group}".encode(), key=f"holdouts {seed}".encode()).digest()
