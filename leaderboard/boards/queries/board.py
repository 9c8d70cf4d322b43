"""A phase's board: what it rests on, and its rows."""

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
from evaluator.tasks.base import CROSS, parse_cross
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure import costs
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries.rows import WHOLE, Row, Slice, in_order, shown
from leaderboard.boards.queries.track_ranks import Places
from leaderboard.evaluation import scorer_of_phase as scoring
from leaderboard.models import Division, GoldVersion, Leaderboard, Phase, Ranking

Pair = tuple[str, str]
"""Two dimensions, the outer one first."""


Version = tuple[int, int]
"""(gold version's number, task version): what tells the boards of a phase apart."""


@dataclass(frozen=True)
class SliceValue:
    """One value of a dimension, as a column of a board. n None: nothing was scored yet."""

    dimension: str
    value: str
    n: int | None

    @property
    def slice(self) -> Slice:
        return ((self.dimension, self.value),)


class Ranges(StrEnum):
    """Whether the rank ranges of a board can be shown. NONE: fewer than two systems compete, or they stay hidden."""

    NONE = "none"
    COMPUTING = "computing"
    FAILED = "failed"
    READY = "ready"


@dataclass(frozen=True)
class Summary:
    """What all rows of a board are together. n_ranked: how many have a rank; shared: the ranks that several have;
    places: those within tracks."""

    n_rows: int
    n_ranked: int
    n_competing: int
    shared: Collection[int]
    cost_kinds: Sequence[str]
    places: Places = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        ranks = Counter(row.rank for row in rows if row.rank is not None)
        return cls(
            n_rows=len(rows),
            n_ranked=ranks.total(),
            n_competing=sum(row.competes for row in rows),
            shared={rank for rank, n in ranks.items() if n > 1},
            cost_kinds=tuple(kind for kind in costs.KINDS if any(row.spent(kind) is not None for row in rows)),
        )


@dataclass(frozen=True)
class Board:
    """A phase's current board. `leaderboard` is None until a first release, `gold` until gold is uploaded.

    rows: all of it, or the page that was asked for; `counted` then tells of all. as_of: how it stood as that day ended.
    """

    phase: Phase
    leaderboard: Leaderboard | None
    gold: GoldVersion | None
    rows: Sequence[Row]
    counted: Summary | None = None
    as_of: date | None = None

    @cached_property
    def summary(self) -> Summary:
        return self.counted or Summary.of(self.rows)

    @property
    def primary(self) -> str:
        return self.scoring.primary(self.gold) if self.gold else ""

    @cached_property
    def scoring(self) -> scoring.Scoring:
        """What scored this board, or scores the phase where there is none yet."""
        return scoring.of_board(self.leaderboard) if self.leaderboard else scoring.of(self.phase)

    @property
    def frozen(self) -> Version | None:
        """Which board this is, if another one has replaced it."""
        if self.leaderboard is None or self.leaderboard.state != Leaderboard.State.FROZEN:
            return None
        return self.leaderboard.gold_version.number, self.leaderboard.task_version

    @cached_property
    def replaced_by(self) -> Leaderboard | None:
        """The board that was shown after this one, with its gold; None while this one is shown."""
        if self.frozen is None:
            return None
        number, task_version = self.frozen
        later = Q(gold_version__number__gt=number) | Q(gold_version__number=number, task_version__gt=task_version)
        shown_ones = self.phase.leaderboards.filter(later, state__in=Leaderboard.PUBLIC)
        return shown_ones.select_related("gold_version").order_by("gold_version__number", "task_version").first()

    @cached_property
    def n_groups(self) -> int | None:
        """How many groups of gold the phase scores; None without gold, or where it is not divided."""
        return n_groups_of(self.phase, self.gold)

    @property
    def step(self) -> float | None:
        """A ladder's, for a share of the whole; None: there is no ladder, or no gold."""
        is_ladder = self.phase.disclosure == Phase.Disclosure.LADDER
        return 1 / math.sqrt(self.n_groups) if is_ladder and self.n_groups else None

    @property
    def tells_intervals(self) -> bool:
        return reveals_comparisons(self.phase) and not self.lacks_outcomes

    @property
    def ranges(self) -> Ranges:
        """How far the rank ranges are."""
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
        """What the ranges rest on, where there are any."""
        return self.leaderboard.ranking if self.leaderboard and self.ranges is Ranges.READY else None

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures that exist for this gold: the primary one first, then as they are declared."""
        known = self.scoring.measures(self.gold) if self.gold else ()
        return sorted(known, key=lambda measure: measure.name != self.primary)

    @property
    def lacks_outcomes(self) -> bool:
        """Whether the organisers' own scorer gave the measure that ranks without outcomes, hence without intervals."""
        if self.scoring.scorer is None or not reveals_comparisons(self.phase):
            return False
        cells = (cell for row in self.rows for (measure, _), cell in row.cells.items() if measure == self.primary)
        return any(cell.value is not None and cell.low is None for cell in cells)

    def measure(self, name: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.name == name), None)

    @cached_property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        """Each dimension of the gold with its values as shown: those that the task knows first, then by name.

        The order of the file is not kept: PostgreSQL stores an object's keys in an order of its own.
        """
        stored = self.gold.dimensions if self.gold else {}
        known = [one.name for one in TASKS[self.phase.benchmark.task].dimensions]
        names = sorted(stored, key=lambda name: (known.index(name) if name in known else len(known), name))
        return {name: [shown(value) for value in stored[name]] for name in names}

    @cached_property
    def crossed(self) -> Pair | None:
        """The two dimensions whose two-way slices the phase has scored, outer first; None: it crosses none."""
        pair = crossed_by(self.phase)
        return pair if pair and set(pair) <= self.dimensions.keys() else None

    @property
    def n_inputs(self) -> int:
        """How many inputs a system answers: a line of gold makes one."""
        return self.gold.n_lines if self.gold else 0

    @property
    def cost_kinds(self) -> Sequence[str]:
        """Which of costs.KINDS some row tells; none where no system ran as a container."""
        return self.summary.cost_kinds

    def measures_on(self, dimensions: Collection[str]) -> Sequence[Measure]:
        """The measures that were revealed on a slice by exactly these dimensions, the primary one first."""
        wanted = tuple(sorted(dimensions))
        seen = {m for row in self.rows for m, slice_ in row.cells if tuple(name for name, _ in slice_) == wanted}
        return [measure for measure in self.measures if measure.name in seen]

    def n(self, measure: str, slice_: Slice = WHOLE) -> int | None:
        """How many gold units the measure rests on; the gold decides, so every row says the same."""
        return next((row.cells[measure, slice_].n for row in self.rows if (measure, slice_) in row.cells), None)

    def values(self, dimension: str, measure: str) -> list[SliceValue]:
        """A dimension's values with the measure's n."""
        slices = (((dimension, value),) for value in self.dimensions[dimension])
        return [SliceValue(dimension, s[0][1], self.n(measure, s)) for s in slices]


def crossed_by(phase: Phase) -> Pair | None:
    """What the phase's option `cross` names; `phase` comes with its split selected."""
    options = {**phase.split.options, **phase.options}
    try:
        return parse_cross(str(options.get(CROSS.name, "")))
    except ValueError:  # edited by hand in the admin: no reason to show no board at all
        return None


def n_groups_of(phase: Phase, gold: GoldVersion | None) -> int | None:
    """How many groups a phase scores of a gold; None where there is no gold, or it is not divided."""
    if gold is None or not phase.half:
        return gold.n_groups if gold else None
    division = Division.objects.filter(gold=gold).first()
    return getattr(division, f"n_{phase.half}") if division else None


def by_primary(board: Board, slice_: Slice = WHOLE) -> list[Row]:
    """The board's rows from best to worst, those that do not compete at their value's place."""
    measure = board.measure(board.primary)
    best_first = measure is None or measure.higher_is_better is not False
    return in_order(board.rows, lambda row: row.cell(board.primary, slice_).value, descending=best_first)
