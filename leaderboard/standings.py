"""The read side: the rows of a phase's board, from standings and releases alone."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from evaluator.definition import CROSS, parse_cross
from evaluator.measures import Measure
from evaluator.task import TASKS
from leaderboard import costs, scoring
from leaderboard.costs import Cost
from leaderboard.disclosure import reveals_comparisons
from leaderboard.models import (
    Division,
    GoldVersion,
    Leaderboard,
    Phase,
    Ranking,
    Release,
    Submission,
    System,
)
from leaderboard.naming import names_for

Slice = tuple[tuple[str, str], ...]
"""(dimension, value as shown) pairs in the order of their names; the whole is ()."""

WHOLE: Slice = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One revealed score. value None: the measure has none there. low, high None: no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


NO_CELL = Cell(None)

Key = tuple[str, Slice]
"""(measure, slice)."""

Pair = tuple[str, str]
"""Two dimensions, the outer one first."""


@dataclass(frozen=True)
class Row:
    """One system of a board. rank None: it does not compete, or has no value.

    rank_low, rank_high: the ranks that the differences between systems leave it, None until they are computed.
    received_at: when its submission came; released_at: when these scores were published, which a rescoring does anew.
    cost: of its container, None where none is told; `no_cost` says why. disqualified: the organisers' public reason.
    anonymous_until: the public is told no name until then; `system` and `team` are what this reader is told,
    is_hidden: which is not the name.
    """

    rank: int | None
    tied: bool
    system: str
    team: str
    kind: str
    description: str
    paper_url: str
    code_url: str
    system_id: int
    submission_id: UUID
    received_at: datetime
    released_at: datetime
    warnings: Sequence[str]
    cells: Mapping[Key, Cell]
    run_id: UUID | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    cost: Cost | None = None
    no_cost: str = ""
    disqualified: str = ""
    anonymous_until: datetime | None = None
    is_hidden: bool = False

    @property
    def competes(self) -> bool:
        return self.kind == System.Kind.PARTICIPANT and not self.disqualified

    def cell(self, measure: str, slice_: Slice = WHOLE) -> Cell:
        """What was revealed, or a cell without a value."""
        return self.cells.get((measure, slice_), NO_CELL)

    def spent(self, kind: str) -> float | None:
        """One of costs.KINDS."""
        return None if self.cost is None else self.cost.as_dict()[kind]


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
class Board:
    """A phase's current board. `leaderboard` is None until a first release, `gold` until gold is uploaded."""

    phase: Phase
    leaderboard: Leaderboard | None
    gold: GoldVersion | None
    rows: Sequence[Row]

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
        if self.leaderboard is None or not reveals_comparisons(self.phase):
            return Ranges.NONE
        ranking: Ranking | None = getattr(self.leaderboard, "ranking", None)
        if ranking is None or sum(row.rank is not None for row in self.rows) < 2:
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
        cells = [row.cell(self.primary) for row in self.rows]
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

    @cached_property
    def cost_kinds(self) -> Sequence[str]:
        """Which of costs.KINDS some row tells; none where no system ran as a container."""
        return [kind for kind in costs.KINDS if any(row.spent(kind) is not None for row in self.rows)]

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


Version = tuple[int, int]
"""(gold version's number, task version): what tells the boards of a phase apart."""


def board_of(
    phase: Phase, *, within: Collection[str] | None = None, version: Version | None = None, reader: Any = None
) -> Board:
    """A board of a phase in two queries; `phase` comes with its benchmark and split selected.

    `within` names the dimensions whose slices are wanted beside the whole: a release holds hundreds of scores, and
    most pages show a few. None: all of them. `version` asks for a board that was shown before; None: the current one.
    `reader`: the person who is told the names of anonymous systems, if he may know them; None: the public.
    """
    shown_ones = Leaderboard.objects.filter(phase=phase).select_related("gold_version", "ranking")
    if version is None:
        leaderboard = shown_ones.filter(state=Leaderboard.State.CURRENT).first()
    else:
        public = shown_ones.filter(state__in=Leaderboard.PUBLIC)
        leaderboard = public.filter(gold_version__number=version[0], task_version=version[1]).first()
    if leaderboard is None:
        return Board(phase, None, phase.split.current_gold, [])
    return Board(phase, leaderboard, leaderboard.gold_version, _rows(phase, leaderboard, within, reader))


def frozen_boards(phase: Phase) -> list[Leaderboard]:
    """The boards that were current before, the latest first."""
    frozen = phase.leaderboards.filter(state=Leaderboard.State.FROZEN).select_related("gold_version")
    return list(frozen.order_by("-gold_version__number", "-task_version"))


def _rows(phase: Phase, leaderboard: Leaderboard, within: Collection[str] | None, reader: Any) -> list[Row]:
    tells_ranges = reveals_comparisons(phase)
    standings = list(leaderboard.standings.select_related("release__submission", "system__team"))
    shared = Counter(standing.rank for standing in standings)
    named = names_for(reader, phase.benchmark)
    rows = [
        Row(
            rank=standing.rank,
            tied=standing.rank is not None and shared[standing.rank] > 1,
            rank_low=standing.rank_low if tells_ranges else None,
            rank_high=standing.rank_high if tells_ranges else None,
            system=name.system,
            team=name.team,
            kind=standing.system.kind,
            description=name.description,
            paper_url=name.paper_url,
            code_url=name.code_url,
            system_id=standing.system_id,
            submission_id=standing.release.submission_id,
            run_id=standing.release.run_id,
            received_at=standing.release.submission.received_at,
            released_at=standing.release.released_at,
            warnings=standing.release.warnings,
            cells=_cells(standing.release.values, within),
            cost=costs.told(standing.release.cost),
            no_cost=_no_cost(standing.release),
            disqualified=standing.disqualified,
            anonymous_until=name.anonymous_until,
            is_hidden=name.is_hidden,
        )
        for standing, name in ((standing, named(standing.system)) for standing in standings)
    ]
    rows.sort(key=lambda row: (row.received_at, row.system_id))
    return rows


def _no_cost(release: Release) -> str:
    if release.cost is not None:
        return ""
    is_file = release.submission.kind == Submission.Kind.PREDICTIONS
    return "uploaded as a file: what it took to make is not known" if is_file else "not measured"


def _cells(scores: Sequence[Mapping[str, Any]], within: Collection[str] | None) -> dict[Key, Cell]:
    return {
        (score["measure"], slice_of(score["slice"])): Cell(score["value"], score["low"], score["high"], score["n"])
        for score in scores
        if within is None or all(name in within for name in score["slice"])
    }


def slice_of(named: Mapping[str, object]) -> Slice:
    """A stored slice as a key."""
    return tuple(sorted((name, shown(value)) for name, value in named.items()))


def shown(value: object) -> str:
    """A slice's value on a board: strings stand for themselves, other values are shown as JSON writes them."""
    return value if isinstance(value, str) else json.dumps(value)


def in_order(rows: Iterable[Row], value: Callable[[Row], float | str | None], *, descending: bool) -> list[Row]:
    """Rows by a value, stable; in either direction those without one come last, and after them the disqualified."""
    rows = list(rows)
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=descending)  # type: ignore[arg-type]
    return sorted(known + [row for row in rows if value(row) is None], key=lambda row: bool(row.disqualified))


def by_primary(board: Board) -> list[Row]:
    """The board's rows from best to worst, those that do not compete at their value's place."""
    measure = board.measure(board.primary)
    best_first = measure is None or measure.higher_is_better is not False
    return in_order(board.rows, lambda row: row.cell(board.primary).value, descending=best_first)
