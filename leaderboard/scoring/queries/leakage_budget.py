"""Leakage budget of a phase: all that its answers have shown of its hidden gold, in bits, and what follows from it.

An answer is a release: what one prediction showed on one version of the gold. `evaluator.disclosure.bits` counts and
says what follows; this module adds what readers see beside the scores: comparisons of systems, head-to-head reports and
plots. Where all scores are shown, an answer costs what its measures and slices can cost; where scores are shown only if
they improve, it costs what was really shown. Leakage in data is another sense: see `evaluator.curation.audit.leaks`.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Max, Q

from evaluator.disclosure import attacks, bits
from evaluator.disclosure.attacks import Learnt
from evaluator.disclosure.bits import Account
from evaluator.disclosure.policy import Kind, Policy
from evaluator.scoring.compare_pairs import MAX_PERMUTATIONS
from leaderboard.boards.disclosure.policies import policy_of, reveals_comparisons, reveals_counts, reveals_plots
from leaderboard.boards.queries import board_state, n_groups_of
from leaderboard.boards.queries.slices import parse_slice_key
from leaderboard.models import (
    Benchmark,
    Comparison,
    GoldVersion,
    HeadToHead,
    Leaderboard,
    Phase,
    Release,
    ReleasePlot,
    Score,
    State,
    System,
)

FORECAST_ANSWERS = 50
"""Number of further answers in the forecast: those of one team with the usual quota."""
KINDS = {
    "which": "which submissions show scores",
    "overall": "overall scores",
    "slices": "scores on slices",
    "two-way": "scores on two-way slices",
    "units": "numbers of units",
    "pairs": "significance and rank ranges",
    "head to head": "head-to-head reports",
    "plots": "plots",
    "others": "other phases on the same groups",
}
"""Kinds of numbers that are shown, with their names on pages, in their order there."""


@dataclass(frozen=True)
class Answer:
    """One answer of a phase. team: its name. competes: False for baselines. bits: of its scores."""

    team: str
    competes: bool
    detailed: bool
    has_scores: bool
    bits: float


@dataclass(frozen=True)
class OfTeam:
    """The answers of one team: their number, how many were detailed and how many showed scores, and their bits."""

    team: str
    answers: int
    detailed: int
    with_scores: int
    bits: float


@dataclass(frozen=True)
class Budget:
    """The leakage budget of a phase, on all versions of its split's gold.

    gold: the version of the current board, None if there is none yet. n_groups: number of its groups that the phase
    scores. policy: what the phase shows. answers: in the order in which they were shown. by_kind: bits by kind of
    number, as in KINDS. others: the budgets of other phases that score any of the same groups. slices: numbers of
    groups of the slices of the dimension with the most slices, which attacks use.
    """

    phase: Phase
    gold: GoldVersion | None
    n_groups: int
    policy: Policy
    answers: Sequence[Answer] = ()
    by_kind: Mapping[str, float] = field(default_factory=dict)
    others: Sequence[Budget] = ()
    slices: Sequence[int] = ()
    forecast_bits: float = 0.0

    @cached_property
    def own_bits(self) -> float:
        """The bits that this phase has shown."""
        return sum(self.by_kind.values())

    @property
    def bits(self) -> float:
        """The bits that this phase has shown, and others on the same groups."""
        return self.own_bits + sum(other.own_bits for other in self.others)

    @property
    def gained(self) -> float:
        """The bound, from 0 to 1: labels known beyond guessing, or shown minus true score."""
        return bits.most_gained(self.bits, self.n_groups)

    @property
    def forecast(self) -> float:
        """The bound after FORECAST_ANSWERS further answers."""
        return bits.most_gained(self.bits + self.forecast_bits, self.n_groups)

    @property
    def is_useful(self) -> bool:
        return self.gained <= bits.USEFUL

    @property
    def n_competing(self) -> int:
        """The number of answers to competing teams, of which there were others to baselines."""
        return sum(answer.competes for answer in self.answers)

    @property
    def reader(self) -> str:
        """Who knows all that was shown, in the words of the page."""
        if not self.answers:
            return "whoever read what other phases on the same groups have shown"
        if not self.n_competing:
            return "whoever read the scores of the baselines"
        answers = "the only submission" if self.n_competing == 1 else f"all {self.n_competing:,} submissions"
        return f"whoever sent {answers} so far"

    @property
    def n_labels(self) -> int:
        """The bound as a number of groups whose labels are known beyond guessing, rounded up."""
        return math.ceil(self.gained * self.n_groups)

    @property
    def may_go_on(self) -> bool:
        """Return whether further answers can show anything."""
        return self.phase.disclosure != Phase.Disclosure.SEALED and not self.phase.is_past()

    @cached_property
    def lines(self) -> Sequence[tuple[str, float]]:
        """(Name, bits) of each kind of number that was shown, and of the other phases."""
        totals = {**self.by_kind, "others": sum(other.own_bits for other in self.others)}
        return [(title, totals[kind]) for kind, title in KINDS.items() if totals.get(kind)]

    @cached_property
    def teams(self) -> Sequence[OfTeam]:
        """The answers of each team and of the baselines, those with the most bits first."""
        rows: defaultdict[str, list[Answer]] = defaultdict(list)
        for answer in self.answers:
            rows[answer.team].append(answer)
        teams = [
            OfTeam(
                team,
                len(answers),
                sum(answer.detailed and answer.has_scores for answer in answers),
                sum(answer.has_scores for answer in answers),
                sum(answer.bits for answer in answers),
            )
            for team, answers in rows.items()
        ]
        return sorted(teams, key=lambda row: (-row.bits, row.team))

    @cached_property
    def over_time(self) -> Sequence[float]:
        """The bound after each answer, the first entry before any.

        Other phases count from the beginning. What is shown beside the scores counts by the number of answers so far.
        """
        before = self.bits - self.own_bits
        return [bits.most_gained(before + own, self.n_groups) for own in self.own_over_time]

    @cached_property
    def own_over_time(self) -> Sequence[float]:
        """The bits that this phase had shown after each answer, the first entry before any; as in `over_time`."""
        rest = self.own_bits - sum(answer.bits for answer in self.answers)
        totals = accumulate((answer.bits for answer in self.answers), initial=0.0)
        n = max(1, len(self.answers))
        return [own + rest * at / n for at, own in enumerate(totals)]

    @cached_property
    def learnt(self) -> Learnt:
        """What the attacks of `evaluator.disclosure.attacks` reach with as many answers, rounded up to 1, 2 or 5."""
        if not self.n_competing:
            return Learnt("", 0, 0.0, 0.0)
        n_answers = _rounded_up(self.n_competing)
        n_teams = _rounded_up(len({answer.team for answer in self.answers if answer.competes}))
        policy = replace(self.policy, kind=Kind.FULL) if self.policy.kind == Kind.SEALED else self.policy
        settings = repr((policy, self.n_groups, self.slices, n_answers, n_teams))
        key = f"attacks:{hashlib.sha256(settings.encode()).hexdigest()}"
        known: Learnt | None = cache.get(key)
        if known is None:
            known = attacks.reach(policy, n_groups=self.n_groups, slices=self.slices, answers=n_answers, teams=n_teams)
            cache.set(key, known, timeout=None)
        return known


def budget_of(phase: Phase) -> Budget:
    """Return the leakage budget of a phase with those of other phases that score any of its groups.

    The number of queries depends on the number of these phases and of their boards only. `phase` has its benchmark and
    split loaded.
    """
    return replace(_alone(phase), others=[_alone(other) for other in _others_on(phase)])


def _others_on(phase: Phase) -> Sequence[Phase]:
    """Return the other phases that score any of a phase's groups, without those of other benchmarks' drafts."""
    counted = ~Q(benchmark__state=Benchmark.State.DRAFT) | Q(benchmark=phase.benchmark_id)
    others = Phase.objects.filter(counted, split=phase.split).exclude(pk=phase.pk).select_related("benchmark", "split")
    if phase.subset:
        others = others.filter(subset__in=("", phase.subset))
    return list(others.order_by("benchmark", "position", "pk"))


def _alone(phase: Phase) -> Budget:
    shown = board_state.current(phase)
    gold = shown.gold_version if shown else board_state.gold_of(phase)
    policy = policy_of(phase)
    budget = Budget(phase, gold, n_groups_of(phase, gold) or 0, policy)
    if phase.split.gold_public or phase.is_sealed:
        return budget
    counts = [_OfBoard(board, policy) for board in phase.leaderboards.select_related("gold_version", "phase")]
    counts = [count for count in counts if count.groups]
    by_board = {(count.board.gold_version_id, count.board.task_version): count for count in counts}
    answers = [
        answer for row in _releases(phase, policy) if row.key in by_board for answer in [by_board[row.key].add(row)]
    ]
    by_kind: defaultdict[str, float] = defaultdict(float)
    for count in counts:
        for kind, cost in count.by_kind().items():
            by_kind[kind] += cost
    last = counts[-1] if counts else None
    return replace(
        budget,
        answers=answers,
        by_kind=by_kind,
        slices=last.slices if last else (),
        forecast_bits=_forecast(answers, last, policy, by_kind) if last and budget.may_go_on else 0.0,
    )


@dataclass(frozen=True)
class _Row:
    """A release: the key of its board, its ladder, its team's name, and its scores, None if they were not read."""

    key: tuple[int, int]
    on: int | None
    team: str
    competes: bool
    detailed: bool
    values: Any


def _releases(phase: Phase, policy: Policy) -> Iterator[_Row]:
    """Yield the releases of a phase in their order, with their scores where their cost depends on them.

    Those that are shown in detail are a team's first ones, on a ladder the first ones with scores on it. Predictions
    that failed have no release. They count too, so that an answer may be taken for detailed that is not: it costs more.
    """
    columns = ["run__gold_version", "run__task_version", "submission__system__team"]
    columns += ["submission__system__team__name", "submission__system__kind"]
    reads_values = policy.compares_steps(detailed=False)
    is_ladder = policy.kind == Kind.LADDER
    n_earlier: Counter[tuple[tuple[int, int], int | None]] = Counter()
    rows = Release.objects.filter(phase=phase).order_by("sequence")
    for row in rows.values_list(*columns, *(["values"] if reads_values else [])).iterator(chunk_size=2000):
        gold, task_version, team, name, kind, *values = row
        key = (gold, task_version)
        on = None if is_ladder and phase.scope == Phase.Scope.TASK else team
        competes = kind == System.Kind.PARTICIPANT
        detailed = not competes or policy.is_detailed(n_earlier[key, on])
        if competes and (values[0] if is_ladder else True):
            n_earlier[key, on] += 1
        yield _Row(key, on, name, competes, detailed, values[0] if reads_values else None)


class _OfBoard:
    """The account of what a board's releases show, and what is shown beside them."""

    def __init__(self, board: Leaderboard, policy: Policy) -> None:
        self.board, self.policy = board, policy
        self.groups = _groups_of(board)
        self.measure_of = board_state.measures_of(board)
        self.bits_of: dict[bool, dict[str, float]] = {}
        if self.groups:
            self.account = Account(
                policy, primary=board_state.primary_of(board), measure_of=self.measure_of, groups=self.groups
            )
            self.bits_of = {detailed: self.account.of_answer(detailed) for detailed in (True, False)}
        self.by_shape: Counter[bool] = Counter()

    def add(self, row: _Row) -> Answer:
        """Count a release, and return it as an answer."""
        if row.values is None:
            self.by_shape[row.detailed] += 1
            return Answer(row.team, row.competes, row.detailed, True, sum(self.bits_of[row.detailed].values()))
        cost = self.account.add(row.values, detailed=row.detailed, competes=row.competes, on=row.on)
        return Answer(row.team, row.competes, row.detailed, bool(row.values), cost)

    def by_kind(self) -> Mapping[str, float]:
        """Return the bits of all that is shown of the board's answers, by kind of number."""
        total = defaultdict(float, self.account.by_kind)
        for is_detailed, n in self.by_shape.items():
            for kind, cost in self.bits_of[is_detailed].items():
                total[kind] += n * cost
        total["units"] += self.account.of_units(self.by_shape.total())
        phase = self.board.phase
        if reveals_comparisons(phase):
            compared = Comparison.objects.filter(leaderboard=self.board).order_by().values_list("measure")
            for measure, n in compared.annotate(Count("pk")):
                overall = next(row for row in self.groups if row["measure"] == measure and not row["slice"])
                total["pairs"] += n * self.account.of_difference(overall, n_permutations=MAX_PERMUTATIONS)
            n = HeadToHead.objects.filter(leaderboard=self.board, state=State.DONE).count()
            total["head to head"] = n * self.account.of_head_to_head(
                n_permutations=settings.RESAMPLES, with_counts=reveals_counts(phase)
            )
        if reveals_plots(phase):
            total["plots"] = self.by_shape[True] * _of_plots(self.board)
        return total

    @property
    def slices(self) -> Sequence[int]:
        """The numbers of groups of the slices of one dimension, the one with the most slices."""
        primary = board_state.primary_of(self.board)
        by_dimension: defaultdict[str, list[int]] = defaultdict(list)
        for row in self.groups:
            if len(row["slice"]) == 1 and row["measure"] == primary:
                by_dimension[next(iter(row["slice"]))].append(row["n_groups"] or row["n"])
        return max(by_dimension.values(), key=len, default=[])


def _groups_of(board: Leaderboard) -> list[dict[str, Any]]:
    """Return a row for each measure and slice of a board, with its numbers of units and groups; [] before any release.

    They are those of one run: all runs of a board have the same, except with a custom scorer.
    """
    runs = board_state.releases_of(board).order_by("-sequence").values("run")
    scores = Score.objects.filter(run__in=runs if board.phase.scorer_id else runs[:1]).order_by("measure", "slice_key")
    rows = scores.values_list("measure", "slice_key").annotate(Max("n"), Max("n_groups"))
    whole = n_groups_of(board.phase, board.gold_version)
    return [
        {
            "measure": measure,
            "slice": dict(parse_slice_key(key)),
            "n": n,
            "n_groups": n_groups or (None if key else whole),
        }
        for measure, key, n, n_groups in rows
    ]


def _of_plots(board: Leaderboard) -> float:
    """Return the bits of the plots of one release of a board: of the last that has any."""
    last = ReleasePlot.objects.filter(release__in=board_state.releases_of(board).order_by().values("pk")).last()
    if last is None:
        return 0.0
    total = sum(bits.of_lattice_path(len(curve["heights"]) - 1) for curve in last.content.get("curves") or ())
    for grid in last.content.get("grids") or ():
        counts = [count for column in grid["columns"] for count in column["counts"]]
        total += _of_counts(sum(counts), len(grid["columns"][0]["counts"]) ** 2)
    if pairs := last.content.get("pairs"):
        total += _of_counts(sum(pairs.values()), len(pairs))
    return total


def _of_counts(n: int, n_bins: int) -> float:
    """Return the bits of the numbers of n things in each of some bins."""
    return bits.of_choice(n + n_bins - 1, n_bins - 1)


def _forecast(answers: Sequence[Answer], last: _OfBoard, policy: Policy, by_kind: Mapping[str, float]) -> float:
    """Return the bits of FORECAST_ANSWERS further answers: those of one more team where all scores are shown.

    Where only improvements are shown, at the present rate. What is shown beside the scores grows in proportion.
    """
    own = sum(answer.bits for answer in answers)
    rate = FORECAST_ANSWERS / max(1, len(answers))
    rest = (sum(by_kind.values()) - own) * rate
    if policy.compares_steps(detailed=False):
        return own * rate + rest
    n_detailed = sum(map(policy.is_detailed, range(FORECAST_ANSWERS)))
    detailed, overall = (sum(last.bits_of[is_detailed].values()) for is_detailed in (True, False))
    return n_detailed * detailed + (FORECAST_ANSWERS - n_detailed) * overall + rest


def _rounded_up(n: int) -> int:
    power = 10 ** (len(str(n)) - 1)
    return next(mantissa * power for mantissa in (1, 2, 5, 10) if mantissa * power >= n)
