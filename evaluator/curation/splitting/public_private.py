"""Public/private split of a held-out set: by group, never by row.

Rows of one group (members of a symmetric quadruple, passages of a document) reveal each other's answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from evaluator.curation.splitting.shares import parse_share
from evaluator.errors import UsageError, shown
from evaluator.jsonl.ids import Id
from evaluator.text import count_noun


class PublicPrivateSplit(NamedTuple):
    """Two disjoint sets of groups, which together are all groups of the gold."""

    public: frozenset[Id]
    private: frozenset[Id]


def split_public_private(
    groups: Iterable[Id], *, seed: int, share: Fraction | float | str = 0.5, previous: PublicPrivateSplit | None = None
) -> PublicPrivateSplit:
    """Split groups at random: a `share` of them, rounded half up and at least one on either side, is public.

    groups: strings or integers (1 and "1" differ); order and repetitions do not matter. seed: 0 or more; it reveals the
    split to anyone who knows the groups, so it is as secret as the gold. share: above 0 and below 1, read as the
    decimal that is written. previous: an earlier split, of gold that was corrected since. Its remaining groups stay on
    their side, even where that leaves a side empty; new groups are assigned at random so that the share comes as close
    as possible.

    Raises UsageError for fewer than two groups, for a share or seed out of range, and if `previous` has a group on both
    sides.
    """
    fraction = _share(share)
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected a whole number, 0 or more")
    all_groups = frozenset(groups)
    if len(all_groups) < 2:
        raise UsageError(
            f"the gold has {count_noun(len(all_groups), 'group')}, expected at least two groups for a public/private "
            "split"
        )
    public = all_groups & previous.public if previous else frozenset()
    private = all_groups & previous.private if previous else frozenset()
    if both := public & private:
        raise UsageError(
            f"group {shown(next(iter(both)))} is both public and private in the earlier split, expected one of them"
        )
    target = min(max(int(fraction * len(all_groups) + Fraction(1, 2)), 1), len(all_groups) - 1)
    new = sorted(all_groups - public - private, key=lambda group: _sort_key(group, seed))
    n_public = min(max(target - len(public), 0), len(new))
    return PublicPrivateSplit(public.union(new[:n_public]), private.union(new[n_public:]))


def _share(share: Fraction | float | str) -> Fraction:
    try:
        fraction = parse_share(share)
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if not 0 < fraction < 1:
        raise UsageError(f"share is {shown(str(share))}, expected a number above 0 and below 1")
    return fraction


def _sort_key(group: Id, seed: int) -> bytes:
    """Return a digest of the group, keyed with the seed: the random key by which groups are sorted.

    It does not depend on the other groups, so a group that is added or removed changes no other group's key.
    """
    kind = "string" if isinstance(group, str) else "integer"
    return hashlib.blake2b(f"{kind} {group}".encode(), key=f"halves {seed}".encode()).digest()
