"""Cards of the home page: what a benchmark's boards show, for a whole page of benchmarks in a few queries.

Only standings are read, so a card shows nothing that boards do not show. Names are those that the public sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import BigIntegerField, Case, Count, F, Min, OuterRef, Q, QuerySet, Subquery, Value, When
from django.utils import timezone

from evaluator.disclosure import ladder
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import ShownScore
from leaderboard.boards.queries.main_phase import main_phase, phases_of
from leaderboard.boards.queries.reading import scores_of
from leaderboard.core.names.anonymous import shown
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Benchmark, Leaderboard, Phase, Split, Standing, System

ORDERS = {
    "active": F("last_result").desc(nulls_last=True),
    "new": F("created_at").desc(),
    "closing": F("closes_at").asc(nulls_last=True),
}
"""Orders of `listed` by their name in the URL: the latest results first, the newest, the next to close."""
CURRENT = {"leaderboard__state": Leaderboard.State.CURRENT}
N_PLOTTED = 10
"""Maximum number of systems in the plot of a card."""


@dataclass(frozen=True)
class Leader:
    """The first-ranked system of a board, with its score.

    n_tied: number of other systems that share the first rank. others: the scores of the systems that are ranked next,
    at most N_PLOTTED - 1.
    """

    system: str
    measure: str
    score: ShownScore
    n_tied: int
    others: Sequence[float]


@dataclass(frozen=True)
class Card:
    """A benchmark on the home page.

    n_systems, n_teams: numbers on the benchmark's current boards. opens_at: when the first phase opens; None unless all
    phases are still to come.
    """

    benchmark: Benchmark
    task: str
    leader: Leader | None
    n_systems: int
    n_teams: int
    is_open: bool
    opens_at: datetime | None


def listed(benchmarks: QuerySet[Benchmark], order: str) -> QuerySet[Benchmark]:
    """Return benchmarks sorted by `order`, a key of ORDERS, each with `last_result` and `closes_at`.

    last_result: when the latest result on a current board was published; None: there is none. closes_at: when the first
    of its open phases closes; None: none of them has a deadline.
    """
    now = timezone.now()
    # Releases are numbered in the order in which they are made.
    newest = Standing.objects.filter(leaderboard=OuterRef("pk")).order_by("-release_id").values("release__released_at")
    boards = Leaderboard.objects.filter(phase__benchmark=OuterRef("pk"), state=Leaderboard.State.CURRENT)
    phases = Phase.objects.filter(benchmark=OuterRef("pk"), closes_at__gt=now, split__state=Split.State.PUBLISHED)
    closing = phases.filter(Q(opens_at=None) | Q(opens_at__lte=now)).order_by()
    rows = benchmarks.select_related("teaser").annotate(
        last_result=Subquery(
            boards.annotate(at=Subquery(newest[:1])).order_by(F("at").desc(nulls_last=True)).values("at")[:1]
        ),
        closes_at=Subquery(closing.values("benchmark").annotate(at=Min("closes_at")).values("at")),
    )
    return rows.order_by(ORDERS[order], "title", "pk")


def cards_of(benchmarks: Sequence[Benchmark]) -> list[Card]:
    """Return the cards of benchmarks, in their order, in a constant number of queries."""
    phases: dict[int, list[Phase]] = {benchmark.pk: [] for benchmark in benchmarks}
    for phase in phases_of([benchmark.pk for benchmark in benchmarks]):
        phases[phase.benchmark_id].append(phase)
    main_phases = {pk: main_phase(rows) for pk, rows in phases.items()}
    leaders = _leaders([phase for phase in main_phases.values() if phase and phase.benchmark.task in TASKS])
    counts = _counts(benchmarks)
    return [
        Card(
            benchmark=benchmark,
            task=TASKS[benchmark.task].title if benchmark.task in TASKS else benchmark.task,
            leader=leaders.get(main.pk) if (main := main_phases[benchmark.pk]) else None,
            n_systems=counts.get(benchmark.pk, (0, 0))[0],
            n_teams=counts.get(benchmark.pk, (0, 0))[1],
            is_open=any(phase.is_open() for phase in phases[benchmark.pk]),
            opens_at=_opening(phases[benchmark.pk]),
        )
        for benchmark in benchmarks
    ]


def _opening(phases: Sequence[Phase]) -> datetime | None:
    """Return when the first phase opens if none has opened yet, else None."""
    dates = [phase.opens_at for phase in phases if phase.opens_at is not None and phase.is_to_come()]
    return min(dates) if dates and len(dates) == len(phases) else None


def _counts(benchmarks: Sequence[Benchmark]) -> Mapping[int, tuple[int, int]]:
    """Return {benchmark's primary key: (number of systems, number of teams of competing systems)}, on current boards.

    An anonymous system counts as a separate team, so that the number does not reveal whose it is.
    """
    is_hidden = When(system__anonymous_until__gt=timezone.now(), then=Value(0) - F("system__pk"))
    team = Case(is_hidden, default=F("system__team__pk"), output_field=BigIntegerField())
    competing = Q(system__kind=System.Kind.PARTICIPANT, disqualified="")
    rows = Standing.objects.filter(leaderboard__phase__benchmark__in=benchmarks, **CURRENT).order_by()
    counted = rows.values("leaderboard__phase__benchmark").annotate(
        n_systems=Count("system", distinct=True), n_teams=Count(team, filter=competing, distinct=True)
    )
    return {line["leaderboard__phase__benchmark"]: (line["n_systems"], line["n_teams"]) for line in counted}


def _leaders(phases: Sequence[Phase]) -> Mapping[int, Leader]:
    """Return the leaders of the phases' boards, by primary key of the phase. A board may have no ranked system."""
    standings: dict[int, list[Standing]] = {}
    best = Standing.objects.filter(leaderboard__phase__in=phases, rank__lte=N_PLOTTED, **CURRENT)
    best = best.select_related("leaderboard__gold_version", "system__team").order_by("rank", "pk")
    for standing in best:
        standings.setdefault(standing.leaderboard.phase_id, []).append(standing)
    scores = scores_of([rows[0].release_id for rows in standings.values()], within=())
    by_pk = {phase.pk: phase for phase in phases}
    leaders = {}
    for pk, rows in standings.items():
        board = rows[0].leaderboard
        board.phase = by_pk[pk]
        scoring = scorer_of_phase.of_board(board)
        primary = scoring.primary(board.gold_version)
        measure = scoring.measure(primary)
        score = scores[rows[0].release_id].get((primary, ()), ShownScore(rows[0].value))
        if not reveals_comparisons(board.phase):
            is_ladder, value = board.phase.disclosure == Phase.Disclosure.LADDER, score.value
            bounds = ladder.bounds(value, measure=measure, n_groups=None) if is_ladder and value is not None else None
            score = ShownScore(value, bounds=bounds)
        leaders[pk] = Leader(
            system=shown(rows[0].system, knows=False).system,
            measure=measure.title,
            score=score,
            n_tied=sum(row.rank == 1 for row in rows) - 1,
            others=[row.value for row in rows[1:] if row.value is not None],
        )
    return leaders
