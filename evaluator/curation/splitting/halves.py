"""Public and private halves of a held-out split: by group, never by row.

Rows of one group (members of a symmetric quadruple, passages of a document) tell each other's answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from evaluator.errors import UsageError, shown
from evaluator.jsonl.ids import Id


class Halves(NamedTuple):
    """Two sets of groups that share none."""

    public: frozenset[Id]
    private: frozenset[Id]


def halves(
    groups: Iterable[Id], *, seed: int, share: Fraction | float | str = 0.5, kept: Halves | None = None
) -> Halves:
    """Divides groups at random: a `share` of them, rounded half up and at least one on either side, is public.

    groups: strings or integers (1 and "1" differ), in any order and as often as they come: neither matters. seed: from
    0; whoever knows it and the groups knows the halves, so it stays with the gold. share: over 0 and under 1, taken as
    the decimal that is written. kept: an earlier division, of gold that was corrected since. Its groups keep their
    side if they are still there, even where that leaves a side without any; the new ones are drawn so that the share
    comes as near as it can.

    Raises UsageError for fewer than two groups, or a share or seed out of range.
    """
    part = _share(share)
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected a whole number from 0")
    all_groups = frozenset(groups)
    if len(all_groups) < 2:
        raise UsageError(f"halves need two groups at least, found {len(all_groups)}")
    public = all_groups & kept.public if kept else frozenset()
    private = all_groups & kept.private if kept else frozenset()
    if both := public & private:
        raise UsageError(f"group {shown(next(iter(both)))} stands on both sides of the kept halves, expected one")
    wanted = min(max(int(part * len(all_groups) + Fraction(1, 2)), 1), len(all_groups) - 1)
    drawn = sorted(all_groups - public - private, key=lambda group: _place(group, seed))
    missing = min(max(wanted - len(public), 0), len(drawn))
    return Halves(public.union(drawn[:missing]), private.union(drawn[missing:]))


def _share(share: Fraction | float | str) -> Fraction:
    """The decimal as it is written: 0.1 is a tenth, not the binary fraction next to it."""
    try:
        part = share if isinstance(share, Fraction) else Fraction(str(share))
    except (ValueError, ZeroDivisionError):
        part = Fraction(0)
    if not 0 < part < 1:
        raise UsageError(f"share is {shown(str(share))}, expected a number over 0 and under 1")
    return part


def _place(group: Id, seed: int) -> bytes:
    """A keyed digest: an order that is random, and that other groups do not change."""
    kind = "string" if isinstance(group, str) else "integer"
    return hashlib.blake2b(f"{kind} {group}".encode(), key=f"halves {seed}".encode()).digest()
