"""A phase's board: its gold, scorer, measures, dimensions and rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cached_property

from django.conf import settings
from django.db.models import Q

from evaluator.measures.base import Measure
from evaluator.statistics.rank_ranges import n_neighbours
from evaluator.tasks.base import CROSS, parse_cross
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure import costs
from leaderboard.boards.disclosure.policies import policy_of, reveals_comparisons, step_of
from leaderboard.boards.queries.rows import Row, in_order
from leaderboard.boards.queries.slices import WHOLE, Slice, shown
from leaderboard.boards.queries.track_ranks import TrackRanks
from leaderboard.evaluation import scorer_of_phase as scoring
from leaderboard.models import GoldVersion, Leaderboard, Phase, PublicPrivatePartition, Ranking

Pair = tuple[str, str]
"""Names of two crossed dimensions: (outer, inner)."""


Version = tuple[int, int]
"""(gold version's number, task version), which identifies a board within its phase."""


@dataclass(frozen=True)
class SliceValue:
    """One value of a dimension, as a column of a board. n: number of gold units; None until a system is scored."""

    dimension: str
    value: str
    n: int | None

    @property
    def slice(self) -> Slice:
        return ((self.dimension, self.value),)


class Ranges(StrEnum):
    """State of a board's rank ranges.

    NONE: there are none, because no board is stored, the board is of a past day, it has fewer than two ranked systems,
    or the phase does not show rank ranges.
    """

    NONE = "none"
    COMPUTING = "computing"
    FAILED = "failed"
    READY = "ready"


@dataclass(frozen=True)
class Summary:
    """Counts over all rows of a board.

    tied_ranks: ranks that several rows have. cost_kinds: names of the kinds of cost that some row shows.
    track_ranks: ranks within tracks; empty if the phase has no tracks.
    """

    n_rows: int
    n_ranked: int
    n_competing: int
    tied_ranks: Collection[int]
    cost_kinds: Sequence[str]
    track_ranks: TrackRanks = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        ranks = Counter(row.rank for row in rows if row.rank is not None)
        return cls(
            n_rows=len(rows),
            n_ranked=ranks.total(),
            n_competing=sum(row.competes for row in rows),
            tied_ranks={rank for rank, n in ranks.items() if n > 1},
            cost_kinds=tuple(kind for kind in costs.KINDS if any(row.cost_of(kind) is not None for row in rows)),
        )


@dataclass(frozen=True)
class Board:
    """A phase's board. `leaderboard` is None until the first release, `gold` until gold is uploaded.

    rows: all rows, or those of one page, or none if the board was read without rows.
    stored_summary: summary of all rows, if `rows` may be incomplete; None: it is computed from `rows`.
    as_of: the board is reconstructed as of the end of this day, UTC; None: it is read as it is now.
    is_cut: the board has more rows than one request may read, and `rows` are the best of them.
    """

    phase: Phase
    leaderboard: Leaderboard | None
    gold: GoldVersion | None
    rows: Sequence[Row]
    stored_summary: Summary | None = None
    as_of: date | None = None
    is_cut: bool = False

    @cached_property
    def summary(self) -> Summary:
        return self.stored_summary or Summary.of(self.rows)

    @property
    def primary(self) -> str:
        return self.scoring.primary(self.gold) if self.gold else ""

    @cached_property
    def scoring(self) -> scoring.PhaseScorer:
        """The scorer of this board, or of the phase if there is no board yet."""
        return scoring.of_board(self.leaderboard) if self.leaderboard else scoring.of(self.phase)

    @property
    def frozen(self) -> Version | None:
        """The board's version if another board has replaced it, else None."""
        if self.leaderboard is None or self.leaderboard.state != Leaderboard.State.FROZEN:
            return None
        return self.leaderboard.gold_version.number, self.leaderboard.task_version

    @cached_property
    def replaced_by(self) -> Leaderboard | None:
        """The public board with the next later version, its gold version loaded; None unless this board is frozen."""
        if self.frozen is None:
            return None
        number, task_version = self.frozen
        later = Q(gold_version__number__gt=number) | Q(gold_version__number=number, task_version__gt=task_version)
        boards = self.phase.leaderboards.filter(later, state__in=Leaderboard.PUBLIC)
        return boards.select_related("gold_version").order_by("gold_version__number", "task_version").first()

    @cached_property
    def n_groups(self) -> int | None:
        """Number of gold groups that the phase scores; None if that is not known (see `n_groups_of`)."""
        return n_groups_of(self.phase, self.gold)

    @property
    def ladder_step(self) -> float | None:
        """Step of the ladder for an overall score between 0 and 1; None without a ladder, or if n_groups is unknown."""
        is_ladder = self.phase.disclosure == Phase.Disclosure.LADDER
        return 1 / math.sqrt(self.n_groups) if is_ladder and self.n_groups else None

    @property
    def step(self) -> float | None:
        """Step to which overall scores are rounded: `ladder_step`, or that of the primary measure.

        None if they are not rounded, or if it is unknown.
        """
        measure = self.measure(self.primary)
        if measure is None or self.phase.disclosure == Phase.Disclosure.LADDER:
            return self.ladder_step
        return step_of(self.phase, measure, self.n_groups)

    @property
    def is_rounded(self) -> bool:
        """True if scores are rounded to their noise and small slices are left out, because the gold is hidden."""
        return not policy_of(self.phase).exact

    @property
    def reveals_intervals(self) -> bool:
        return reveals_comparisons(self.phase) and not self.lacks_outcomes

    @property
    def ranges(self) -> Ranges:
        """State of the board's rank ranges: none, computing, failed or ready."""
        if self.leaderboard is None or not reveals_comparisons(self.phase) or self.as_of is not None:
            return Ranges.NONE
        ranking: Ranking | None = getattr(self.leaderboard, "ranking", None)
        if ranking is None or self.summary.n_ranked < 2:
            return Ranges.NONE
        if ranking.is_due:
            return Ranges.FAILED if ranking.failures >= settings.MAX_ATTEMPTS else Ranges.COMPUTING
        return Ranges.READY

    @property
    def ranking(self) -> Ranking | None:
        """The computation of the rank ranges, done or in progress; None if there is none or if it failed."""
        exists = self.ranges in (Ranges.READY, Ranges.COMPUTING)
        return self.leaderboard.ranking if self.leaderboard and exists else None

    @property
    def n_neighbours(self) -> int | None:
        """Number of systems above, and below, with which each ranked system is compared; None if all pairs are."""
        k = n_neighbours(self.summary.n_ranked)
        return k if k < self.summary.n_ranked - 1 else None

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures that exist for this gold: the primary one first, then in the order of declaration."""
        declared = self.scoring.measures(self.gold) if self.gold else ()
        return sorted(declared, key=lambda measure: measure.name != self.primary)

    @property
    def has_wide_ranges(self) -> bool:
        """True if the rank range of some row includes several ranks."""
        return self.ranges == Ranges.READY and any(row.rank_low != row.rank_high for row in self.rows)

    @property
    def lacks_outcomes(self) -> bool:
        """True if a custom scorer returned the primary measure without per-unit outcomes, and so without intervals.

        Always False if the phase does not show intervals.
        """
        if self.scoring.scorer is None or not reveals_comparisons(self.phase):
            return False
        scores = (score for row in self.rows for (measure, _), score in row.scores.items() if measure == self.primary)
        lack = [score.low is None for score in scores if score.value is not None]
        return bool(lack) and all(lack)  # answers that are not shown in detail have no intervals either

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)

    @cached_property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        """Map from each dimension of the gold to its values as text.

        The dimensions that the task declares come first, in the task's order, then the others, sorted by name. The
        order of the gold file is lost: PostgreSQL does not preserve the order of an object's keys.
        """
        stored = self.gold.dimensions if self.gold else {}
        known = [dimension.name for dimension in TASKS[self.phase.benchmark.task].dimensions]
        names = sorted(stored, key=lambda name: (known.index(name) if name in known else len(known), name))
        return {name: [shown(value) for value in stored[name]] for name in names}

    @cached_property
    def crossed(self) -> Pair | None:
        """The two dimensions whose two-way slices the phase scores, outer first.

        None if the phase scores no two-way slices, or the gold lacks one of the dimensions.
        """
        pair = crossed_by(self.phase)
        return pair if pair and set(pair) <= self.dimensions.keys() else None

    @property
    def n_inputs(self) -> int:
        """Number of inputs that a system answers: the number of lines of gold; 0 without gold."""
        return self.gold.n_lines if self.gold else 0

    @property
    def cost_kinds(self) -> Sequence[str]:
        """Names of the kinds of cost that some row shows; empty if no system ran as a container."""
        return self.summary.cost_kinds

    def measures_on(self, dimensions: Collection[str]) -> Sequence[Measure]:
        """Return the measures with a revealed score on a slice by exactly these dimensions, the primary one first."""
        names = tuple(sorted(dimensions))
        seen = {m for row in self.rows for m, slice_ in row.scores if tuple(name for name, _ in slice_) == names}
        return [measure for measure in self.measures if measure.name in seen]

    def n(self, measure: str, slice_: Slice = WHOLE) -> int | None:
        """Return the number of gold units behind a measure on a slice, the same in every row; None if not scored."""
        return next((row.scores[measure, slice_].n for row in self.rows if (measure, slice_) in row.scores), None)

    def values(self, dimension: str, measure: str) -> list[SliceValue]:
        """Return the values of a dimension, each with the number of gold units behind the measure on it."""
        slices = (((dimension, value),) for value in self.dimensions[dimension])
        return [SliceValue(dimension, s[0][1], self.n(measure, s)) for s in slices]


def crossed_by(phase: Phase) -> Pair | None:
    """Return the two dimensions that the option `cross` of a phase or its split names, outer first.

    None if the option is empty or cannot be parsed. `phase` has its split loaded.
    """
    options = {**phase.split.options, **phase.options}
    try:
        return parse_cross(str(options.get(CROSS.name, "")))
    except ValueError:  # edited by hand in the admin: the board can be shown without it
        return None


def n_groups_of(phase: Phase, gold: GoldVersion | None) -> int | None:
    """Return the number of gold groups that a phase scores.

    None without gold, or if the phase scores the public or the private groups and the gold has no public/private split.
    """
    if gold is None or not phase.subset:
        return gold.n_groups if gold else None
    partition = PublicPrivatePartition.objects.filter(gold=gold).first()
    return getattr(partition, f"n_{phase.subset}") if partition else None


def by_primary(board: Board, slice_: Slice = WHOLE) -> list[Row]:
    """Return the board's rows from best to worst by the primary measure, including systems that do not compete."""
    measure = board.measure(board.primary)
    best_first = measure is None or measure.higher_is_better is not False
    return in_order(board.rows, lambda row: row.score(board.primary, slice_).value, descending=best_first)
