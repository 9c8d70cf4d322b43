"""Reading of boards: rows are built from standings, systems and releases, in a constant number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Any

import msgspec
from django.db.models import Case, Count, Exists, F, Q, QuerySet, Subquery, Sum, TextField, When
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from leaderboard.boards.disclosure import costs
from leaderboard.boards.disclosure.policies import reveals_comparisons
from leaderboard.boards.queries import board_state, tracks
from leaderboard.boards.queries.board import Board, Summary, Version
from leaderboard.boards.queries.facts import values as facts_of
from leaderboard.boards.queries.ladder_bounds import with_bounds, with_parts
from leaderboard.boards.queries.rows import Row, ShownScores, scores_on
from leaderboard.boards.queries.slices import dimensions_key, parse_slice_key
from leaderboard.boards.queries.track_ranks import TrackRanks, ranks_of
from leaderboard.boards.queries.visible_boards import read_once, shown_board
from leaderboard.core.compiled_queries import PreparedQuery, parse_datetime
from leaderboard.core.names.anonymous import Shown, names_for
from leaderboard.models import Benchmark, Leaderboard, Phase, Release, ReleaseSlice, Standing, Submission, System, Team

OF_A_SYSTEM = ("name", "description", "paper_url", "code_url", "anonymous_until", "anonymous_number", "team_id")
FIELDS = (
    *("rank", "rank_low", "rank_high", "disqualified", "system_id", "release_id"),
    *("system__kind", "system__team__name", *(f"system__{name}" for name in OF_A_SYSTEM)),
    *("release__submission_id", "release__run_id", "release__submission__kind", "release__submission__track"),
)
TEXTS = (
    "release__warnings",
    "release__cost",
    "release__submission__received_at",
    "release__released_at",
    "system__facts",
)
"""Fields that follow FIELDS in a record. They are read as text, because Django takes longer to convert JSON and
datetimes than for everything else."""
TRACK = FIELDS.index("release__submission__track")
read_json = msgspec.json.decode


def _counted(leaderboard: int) -> QuerySet[Standing, tuple[int, ...]]:
    rows = Standing.objects.filter(leaderboard=leaderboard).order_by().values("leaderboard")
    # Systems and releases are reached through small indexes: joining all of them would take most of the time.
    others = Standing.objects.filter(leaderboard=leaderboard, disqualified="").order_by()
    others = others.exclude(system__kind=System.Kind.PARTICIPANT)
    n_others = others.values("leaderboard").annotate(n=Count("pk")).values("n")
    costs_known = Release.objects.filter(phase__leaderboards=leaderboard, cost__isnull=False)
    return rows.annotate(
        n_rows=Count("pk"),
        n_ranked=Count("rank"),
        sum_of_ranks=Sum("rank"),
        n_competing=Count("pk", filter=Q(disqualified="")) - Coalesce(Subquery(n_others), 0),
        has_costs=Exists(costs_known),
    ).values_list("n_rows", "n_ranked", "sum_of_ranks", "n_competing", "has_costs")


COUNTED = PreparedQuery(_counted, int)

DISQUALIFIED_LAST = Case(When(disqualified="", then=0), default=1)
MAX_DIMENSIONS = 3
"""Maximum number of dimensions of a slice that the parameter `within` can select."""


def board_of(
    phase: Phase,
    *,
    within: Collection[str] | None = None,
    version: Version | None = None,
    viewer: Any = None,
    named_at: datetime | None = None,
    most: int | None = None,
    systems: Collection[int] = (),
) -> Board:
    """Return a board of a phase with its rows; `phase` has its benchmark and split loaded.

    within: dimensions whose slices are read in addition to the overall scores; None: all. A release holds hundreds of
    scores, and most pages show a few.
    version: version of a board that is or was public; None: the current board.
    viewer: the user, who sees the names of anonymous systems if permitted; None: the public.
    named_at: the time whose anonymous systems have no names; None: now.
    most: number of rows to read, the best by the primary measure; None: all. systems: ids of systems whose rows are
    read in addition, if they are on the board.
    """
    leaderboard = shown_board(phase, version)
    if leaderboard is None:
        return Board(phase, None, phase.split.current_gold, [])
    board = Board(phase, leaderboard, leaderboard.gold_version, [])
    standings = leaderboard.standings.all()
    if most is not None and standings.order_by()[: most + 1].count() > most:
        best = by_value(standings, most, descending=board_state.direction(leaderboard, board.primary) > 0)
        standings = standings.filter(Q(pk__in=best) | Q(system__in=systems))
        board = replace(board, stored_summary=summary_of(leaderboard), is_cut=True)
    summary = board.stored_summary
    rows = rows_of(leaderboard, phase, standings, summary, within=within, viewer=viewer, named_at=named_at)
    rows.sort(key=lambda row: (row.received_at, row.system_id))
    return replace(board, rows=rows)


def by_value(standings: QuerySet[Any], n: int, *, start: int = 0, descending: bool) -> list[int]:
    """Return the primary keys of up to n standings of one board, from the position `start` on.

    They are in the order in which boards are sorted by the overall values of their primary measure. An index has this
    order for all but disqualified standings and those without a value, which come last.
    """
    end = start + n
    by_time = (F("received_at").asc(nulls_last=True), "system_id")
    valued = standings.filter(disqualified="", value__isnull=False)
    best = valued.order_by("-value" if descending else "value", *by_time)
    pks = list(best.values_list("pk", flat=True)[start:end])
    if len(pks) == n:
        return pks
    value = F("value").desc(nulls_last=True) if descending else F("value").asc(nulls_last=True)
    return list(standings.order_by(DISQUALIFIED_LAST, value, *by_time).values_list("pk", flat=True)[start:end])


def head_of(phase: Phase, version: Version | None = None) -> Board:
    """Return a board with the summary of its rows but without the rows, which `paging.page_of` reads page by page.

    version: None: the current board. If the phase has no such board, `leaderboard` of the result is None.
    """
    leaderboard = shown_board(phase, version)
    if leaderboard is None:
        return Board(phase, None, phase.split.current_gold, [])
    return Board(phase, leaderboard, leaderboard.gold_version, [], summary_of(leaderboard))


def summary_of(leaderboard: Leaderboard) -> Summary:
    """Summarise a board's rows, counted by the database."""
    return _summary(leaderboard, bool(leaderboard.phase.tracks))


@read_once(64)
def _summary(board: int, has_tracks: bool) -> Summary:
    ((n_rows, n_ranked, sum_of_ranks, n_competing, has_costs),) = COUNTED(board) or [(0,) * 5]
    standings = Standing.objects.filter(leaderboard=board).order_by()
    ranked = standings.exclude(rank=None)
    return Summary(
        n_rows=n_rows,
        n_ranked=n_ranked,
        n_competing=n_competing,
        # Ties share the best of their ranks (1, 1, 3), so they lower the sum.
        tied_ranks=_shared(ranked) if (sum_of_ranks or 0) < n_ranked * (n_ranked + 1) // 2 else frozenset(),
        cost_kinds=cost_kinds(standings) if has_costs else (),
        track_ranks=ranks_of(ranked.values_list("release__submission__track", "rank")) if has_tracks else {},
    )


def _shared(ranked: QuerySet[Standing]) -> frozenset[int]:
    ranks = ranked.values("rank").annotate(n=Count("pk")).filter(n__gt=1)
    return frozenset(rank for rank in ranks.values_list("rank", flat=True) if rank is not None)


def cost_kinds(standings: QuerySet[Any]) -> tuple[str, ...]:
    """Return the names of the kinds of cost that some of the standings shows."""
    published = standings.exclude(release__cost=None).values_list("release__cost", flat=True)
    return tuple(kind for kind in costs.KINDS if any(cost and cost.get(kind) is not None for cost in published))


def rows_of(
    board: Leaderboard,
    phase: Phase,
    standings: QuerySet[Standing],
    summary: Summary | None = None,
    *,
    within: Collection[str] | None,
    viewer: Any,
    named_at: datetime | None = None,
) -> list[Row]:
    """Return the rows of a board, in the order of `standings`.

    phase: the board's phase, with its related rows loaded. summary: of all rows of the board; None: `standings` are
    all of them.
    Rows have the overall scores, and the scores on slices by dimensions in `within`; None: on all slices.
    viewer, named_at: as for `board_of`.
    """
    lines = list(standings.values_list(*FIELDS, *as_text(*TEXTS)))
    scores = scores_of([line[5] for line in lines], with_parts(board, within))
    return build_rows(
        board,
        phase,
        lines,
        scores,
        shared=summary.tied_ranks if summary else _shared_by(lines),
        track_ranks=summary.track_ranks if summary else _track_ranks_of(phase, lines),
        viewer=viewer,
        named_at=named_at,
    )


def _shared_by(lines: Iterable[Sequence[Any]]) -> Collection[int]:
    """Return the ranks that several of the lines share; a line has the values of FIELDS."""
    return {rank for rank, n in Counter(line[0] for line in lines if line[0] is not None).items() if n > 1}


def _track_ranks_of(phase: Phase, lines: Iterable[Sequence[Any]]) -> TrackRanks:
    """Return the ranks within tracks; {} without tracks. lines: values of FIELDS, of all standings of one board."""
    return ranks_of((line[TRACK], line[0]) for line in lines) if phase.tracks else {}


def as_text(*names: str) -> list[Cast]:
    """Return expressions that cast JSON and datetime fields to text, for `read_json` and `parse_datetime` to parse."""
    return [Cast(name, TextField()) for name in names]


def build_rows(
    board: Leaderboard,
    phase: Phase,
    records: Iterable[Sequence[Any]],
    scores: dict[int, ShownScores],
    *,
    shared: Collection[int],
    track_ranks: TrackRanks,
    viewer: Any,
    named_at: datetime | None = None,
) -> list[Row]:
    """Build rows from records, each with the values of FIELDS and then of TEXTS.

    scores: by release id, as `scores_of` returns them. shared: ranks that several systems of the board share.
    viewer, named_at: as for `board_of`.
    """
    shows_ranges = reveals_comparisons(phase)
    named = _named(phase, viewer, named_at or timezone.now())
    shown_scores = with_bounds(board, scores)
    is_public = phase.benchmark.state == Benchmark.State.PUBLIC
    asked = bool(phase.benchmark.facts)
    titles = {track.name: track.title for track in tracks.of(phase)}
    rows = []
    for rank, low, high, disqualified, system, release, kind, team, *described in records:
        submission, run, sent, track, warnings, cost, received_at, released_at, facts = described[len(OF_A_SYSTEM) :]
        name = named(system, team, described)
        track_rank, track_tied = track_ranks.get((track, rank), (None, False))
        row = Row(
            rank=rank,
            tied=rank is not None and rank in shared,
            rank_low=low if shows_ranges else None,
            rank_high=high if shows_ranges else None,
            system=name.system,
            team=name.team,
            team_id=name.team_id if is_public else None,
            kind=kind,
            description=name.description,
            paper_url=name.paper_url,
            code_url=name.code_url,
            system_id=system,
            board_id=board.pk,
            submission_id=submission,
            run_id=run,
            received_at=parse_datetime(received_at),
            released_at=parse_datetime(released_at),
            warnings=read_json(warnings),
            scores=shown_scores.get(release, {}),
            cost=costs.shown_cost(read_json(cost)) if cost else None,
            no_cost=_no_cost(cost, sent),
            disqualified=disqualified,
            anonymous_until=name.anonymous_until,
            is_hidden=name.is_hidden,
            facts={} if name.is_hidden or not asked else facts_of(phase.benchmark, read_json(facts)),
            track=track,
            track_title=titles.get(track, track),
            track_rank=track_rank,
            track_tied=track_tied,
        )
        rows.append(row)
    return rows


def scores_of(releases: Collection[int], within: Collection[str] | None) -> dict[int, ShownScores]:
    """Return, by release id, the overall scores and those on slices by dimensions in `within`; None: on all slices."""
    slices = ReleaseSlice.objects.filter(release__in=releases)
    if within is not None:
        slices = slices.filter(dimensions__in=_combined(within))
    scores: dict[int, ShownScores] = {}
    lines = slices.order_by("release", "pk").values_list("release_id", "slice_key", *as_text("scores"))
    for release, key, stored in lines:
        scores.setdefault(release, {}).update(scores_on(parse_slice_key(key), read_json(stored)))
    return scores


def _combined(within: Collection[str]) -> list[str]:
    """Return the values of the column `ReleaseSlice.dimensions` by which scores are selected.

    They are those of the overall scores, and of the slices by up to MAX_DIMENSIONS of the dimensions `within`.
    """
    names = sorted(set(within))
    subsets = [subset for size in range(MAX_DIMENSIONS + 1) for subset in combinations(names, size)]
    return [dimensions_key(tuple((name, "") for name in subset)) for subset in subsets]


def _named(phase: Phase, viewer: Any, at: datetime) -> Callable[[int, str, Sequence[Any]], Shown]:
    """Return a function that returns the names of a system as the viewer may see them at the time `at`.

    Its arguments are the system's primary key, its team's name, and the system's fields OF_A_SYSTEM.
    """
    shown_as = names_for(viewer, phase.benchmark, at)

    def named(pk: int, team: str, described: Sequence[Any]) -> Shown:
        name, description, paper_url, code_url, until, number, team_id = described[: len(OF_A_SYSTEM)]
        if until is None or until <= at:
            return Shown(name, team, description, paper_url, code_url, "", None, team_id=team_id)
        return shown_as(
            System(
                pk=pk,
                name=name,
                description=description,
                paper_url=paper_url,
                code_url=code_url,
                anonymous_until=until,
                anonymous_number=number,
                team=Team(pk=team_id, name=team),
            )
        )

    return named


def _no_cost(cost: object, sent: str) -> str:
    if cost is not None:
        return ""
    is_file = sent == Submission.Kind.PREDICTIONS
    return "uploaded as a file: what it took to make is not known" if is_file else "not measured"
