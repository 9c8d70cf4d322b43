"""Pairwise comparisons of a board's ranked systems, with Holm-corrected p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload
from uuid import UUID

import numpy as np
from django.db.models import QuerySet

from evaluator.measures.base import Measure
from evaluator.statistics.holm import ALPHA
from evaluator.statistics.rank_ranges import Indices
from leaderboard.boards.disclosure.policies import (
    is_detailed,
    reveal_difference,
    reveal_n_permutations,
    reveal_p,
)
from leaderboard.boards.queries import Board, Ranges, Row, by_primary
from leaderboard.comparisons.queries.rank_ranges import PairFamily, stored
from leaderboard.models import Comparison, Phase

NUMBERS = ("difference", "low", "high", "p", "n_permutations", "n_groups")


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Comparison of two ranked systems, of which `a` has the better rank or the same. Numbers are None if undefined.

    difference: a - b on the overall primary measure. low, high: ends of its confidence interval. p: two-sided p-value.
    p_holm: p, Holm-corrected (see `PairFamily.p_pairwise`). significant: by the exact p_holm, if the shown values
    differ. n_permutations: permutations behind p, None where p is rounded. n_groups: resampled groups of gold units.
    The numbers are those that the phase shows: they are rounded, and None if one of the two answers is not shown in
    detail.
    """

    a: Row
    b: Row
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    n_permutations: int | None
    n_groups: int
    significant: bool


class RankedPairs(Sequence[RankedPair]):
    """A lazy sequence of the compared pairs in the order of ranks: of 10,000 pairs, only requested ones are built."""

    def __init__(self, phase: Phase, measure: Measure, rows: Sequence[Row], comparisons: QuerySet[Comparison]) -> None:
        """Read the p-values.

        phase, measure: of the board, its primary measure. rows: ranked systems of the board, best first. comparisons:
        those of their runs. Raises KeyError if a comparison of two of these systems is not stored.
        """
        self._phase, self._measure = phase, measure
        self.rows = {row.run_id: row for row in rows if row.run_id is not None}
        self._comparisons = comparisons
        family = PairFamily(sorted(self.rows, key=lambda run: (self.rows[run].rank, run)))
        family.add(comparisons.values_list("a_id", "b_id", "p", "n_permutations").iterator(chunk_size=5000))
        # Systems of one rank are in the order of the rows, not in that of the family.
        self._runs = list(self.rows)
        places = {run: place for place, run in enumerate(self._runs)}
        ends = np.array([places[run] for run in family.runs], dtype=np.int64)[[family.first, family.second]]
        ends.sort(axis=0)
        in_order = np.lexsort(ends[::-1])
        self._a, self._b = ends[:, in_order]
        self._p_holm = family.p_pairwise()[in_order]

    def __len__(self) -> int:
        return len(self._a)

    @overload
    def __getitem__(self, at: int) -> RankedPair: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[RankedPair]: ...
    def __getitem__(self, at: int | slice) -> RankedPair | Sequence[RankedPair]:
        indices = np.arange(len(self))[at]
        return self._read(indices) if isinstance(at, slice) else self._read(indices[None])[0]

    def __iter__(self) -> Iterator[RankedPair]:
        return iter(self[:])

    def among(self, rows: Iterable[Row]) -> Sequence[RankedPair]:
        """Return the compared pairs of which both systems are in `rows`, in the order of ranks."""
        runs = {row.run_id for row in rows}
        is_among = np.array([run in runs for run in self._runs])
        return self._read(np.flatnonzero(is_among[self._a] & is_among[self._b]))

    def _read(self, indices: Indices) -> Sequence[RankedPair]:
        positions = zip(self._a[indices].tolist(), self._b[indices].tolist(), strict=True)
        pairs = [(self._runs[a], self._runs[b]) for a, b in positions]
        runs = {run for pair in pairs for run in pair}
        comparisons = self._comparisons
        if len(runs) < len(self.rows):
            comparisons = comparisons.filter(a__in=runs, b__in=runs)
        requested = {frozenset(pair) for pair in pairs}
        lines = comparisons.values_list("a_id", "b_id", *NUMBERS).iterator(chunk_size=5000)
        by_pair = {line[:2]: line[2:] for line in lines if frozenset(line[:2]) in requested}
        return [
            self._ranked(a, b, by_pair, p_holm)
            for (a, b), p_holm in zip(pairs, self._p_holm[indices].tolist(), strict=True)
        ]

    def _ranked(
        self, a: UUID, b: UUID, by_pair: Mapping[tuple[UUID, UUID], tuple[Any, ...]], p_holm: float
    ) -> RankedPair:
        numbers = by_pair.get((a, b))
        if numbers is None:
            difference, low, high, *rest = by_pair[b, a]
            numbers = (_negated(difference), _negated(high), _negated(low), *rest)
        exact = dict(zip(NUMBERS, numbers, strict=True))
        exact["p_holm"] = None if exact["p"] is None else p_holm
        return self._shown(self.rows[a], self.rows[b], exact)

    def _shown(self, a: Row, b: Row, exact: dict[str, Any]) -> RankedPair:
        phase, primaries = self._phase, [row.score(self._measure.name) for row in (a, b)]
        numbers: dict[str, Any] = dict.fromkeys(("difference", "low", "high", "p", "p_holm"))
        if all(is_detailed(phase, score) for score in primaries):
            shown = reveal_difference(
                phase=phase,
                numbers={name: exact[name] for name in ("difference", "low", "high")},
                measure=self._measure,
                n_groups=exact["n_groups"],
                values=[score.value for score in primaries],
            )
            numbers = {name: shown[name] for name in ("difference", "low", "high")}
            numbers |= {
                name: reveal_p(phase, exact[name], difference=numbers["difference"]) for name in ("p", "p_holm")
            }
        # As for rank ranges, systems that are shown as equal do not differ significantly.
        differ = primaries[0].value != primaries[1].value
        significant = differ and exact["p_holm"] is not None and exact["p_holm"] <= ALPHA
        n_permutations = reveal_n_permutations(phase, exact["n_permutations"])
        n_groups = exact["n_groups"]
        return RankedPair(a, b, **numbers, n_permutations=n_permutations, n_groups=n_groups, significant=significant)


def ranked_pairs(board: Board) -> RankedPairs | tuple[()]:
    """Return the compared pairs of a board's systems, in the order of ranks; () until the rank ranges are ready.

    () also if a standing changes while they are read, so that a comparison is missing, and for a board with more rows
    than were read, since the correction of p-values takes all pairs.
    """
    measure = board.measure(board.primary)
    if board.leaderboard is None or measure is None or board.is_cut or board.ranges is not Ranges.READY:
        return ()
    rows = [row for row in by_primary(board) if row.rank is not None]
    try:
        return RankedPairs(board.phase, measure, rows, stored(board.leaderboard, board.primary))
    except KeyError:
        return ()


def indistinguishable_groups(rows: Sequence[Row], differ: Callable[[Row, Row], bool]) -> list[Sequence[Row]]:
    """Return the maximal groups of consecutive rows of which no two differ significantly, the best ranks first."""
    groups: list[Sequence[Row]] = []
    end = 0
    for start in range(len(rows)):
        stop = start + 1
        while stop < len(rows) and not any(differ(row, rows[stop]) for row in rows[start:stop]):
            stop += 1
        if stop - start > 1 and stop > end:
            groups.append(rows[start:stop])
            end = stop
    return groups


def _negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
