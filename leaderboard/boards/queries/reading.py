"""Reading of boards: rows are built from standings, systems and releases, in a constant number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import Any, NamedTuple
from uuid import UUID

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
from leaderboard.boards.queries.slices import WHOLE, Slice, dimensions_key, parse_slice_key, slice_key
from leaderboard.boards.queries.track_ranks import TrackRanks, ranks_of
from leaderboard.boards.queries.visible_boards import counted_once, shown_board
from leaderboard.core.names.anonymous import Shown, names_for
from leaderboard.models import Benchmark, Leaderboard, Phase, Release, ReleaseSlice, Standing, Submission, System, Team

read_json = msgspec.json.decode


class Line(NamedTuple):
    """What is read of one standing, its system and its release; see PATHS.

    JSON and datetimes are text: Django takes longer to convert these than for everything else.
    """

    rank: Any
    rank_low: int | None
    rank_high: int | None
    disqualified: str
    system: int
    kind: str
    name: str
    description: str
    paper_url: str
    code_url: str
    anonymous_until: datetime | None
    anonymous_number: int | None
    team: int
    team_name: str
    release: int
    run: UUID
    submission: UUID
    sent_as: str
    track: str
    warnings: str
    cost: str | None
    received_at: str
    released_at: str
    facts: str


def _as_text(path: str) -> Cast:
    return Cast(path, TextField())


_SUBMISSION = "release__submission"
PATHS: Mapping[str, str | Cast] = {
    **{name: name for name in ("rank", "rank_low", "rank_high", "disqualified")},
    "system": "system_id",
    **{name: f"system__{name}" for name in ("kind", "name", "description", "paper_url", "code_url")},
    **{name: f"system__{name}" for name in ("anonymous_until", "anonymous_number", "team")},
    "team_name": "system__team__name",
    "release": "release_id",
    "run": "release__run_id",
    **{"submission": f"{_SUBMISSION}_id", "sent_as": f"{_SUBMISSION}__kind", "track": f"{_SUBMISSION}__track"},
    **{name: _as_text(f"release__{name}") for name in ("warnings", "cost")},
    "received_at": _as_text(f"{_SUBMISSION}__received_at"),
    "released_at": _as_text("release__released_at"),
    "facts": _as_text("system__facts"),
}
"""Field of `Line` -> path from a standing, present or past."""
assert tuple(PATHS) == Line._fields


_DISQUALIFIED_LAST = Case(When(disqualified="", then=0), default=1)
_BY_TIME = (F("received_at").asc(nulls_last=True), "system_id")
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
    rows = rows_of(board, lines_of(standings), within=within, viewer=viewer, named_at=named_at)
    rows.sort(key=lambda row: (row.received_at, row.system_id))
    return replace(board, rows=rows)


def by_value(standings: QuerySet[Any], n: int, *, start: int = 0, descending: bool) -> list[int]:
    """Return the primary keys of up to n standings of one board, from the position `start` on.

    They are in the order in which boards are sorted by the overall values of their primary measure. An index has this
    order for all but disqualified standings and those without a value, which come last.
    """
    end = start + n
    valued = standings.filter(disqualified="", value__isnull=False)
    best = valued.order_by("-value" if descending else "value", *_BY_TIME)
    pks = list(best.values_list("pk", flat=True)[start:end])
    if len(pks) == n:
        return pks
    return list(in_order_of_value(standings, descending=descending).values_list("pk", flat=True)[start:end])


def in_order_of_value(standings: QuerySet[Any], *, descending: bool) -> QuerySet[Any]:
    """Return standings of one board in the order of `by_value`."""
    value = F("value").desc(nulls_last=True) if descending else F("value").asc(nulls_last=True)
    return standings.order_by(_DISQUALIFIED_LAST, value, *_BY_TIME)


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
    has_tracks = bool(leaderboard.phase.tracks)
    return counted_once("summary", leaderboard, lambda: _summary(leaderboard.pk, has_tracks), has_tracks)


def _summary(board: int, has_tracks: bool) -> Summary:
    ((n_rows, n_ranked, sum_of_ranks, n_competing, has_costs),) = list(_counted(board)) or [(0,) * 5]
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


def _shared(ranked: QuerySet[Standing]) -> frozenset[int]:
    ranks = ranked.values("rank").annotate(n=Count("pk")).filter(n__gt=1)
    return frozenset(rank for rank in ranks.values_list("rank", flat=True) if rank is not None)


def cost_kinds(standings: QuerySet[Any]) -> tuple[str, ...]:
    """Return the names of the kinds of cost that some of the standings shows."""
    published = standings.exclude(release__cost=None).values_list("release__cost", flat=True)
    return tuple(kind for kind in costs.KINDS if any(cost and cost.get(kind) is not None for cost in published))


def lines_of(standings: QuerySet[Any]) -> list[Line]:
    """Return the lines of standings, in their order."""
    return [Line._make(line) for line in standings.values_list(*PATHS.values())]


def rows_of(
    board: Board,
    lines: Sequence[Line],
    *,
    within: Collection[str] | None = (),
    slice_: Slice = WHOLE,
    scores: Mapping[int, ShownScores] | None = None,
    viewer: Any = None,
    named_at: datetime | None = None,
) -> list[Row]:
    """Return the rows of a board from their lines, in the same order.

    board: with its summary, or `lines` are those of all of its rows. Rows have the scores on `slice_`, and those on
    slices by dimensions in `within` (None: all). scores: those of the rows, by release id; None: they are read.
    viewer, named_at: as for `board_of`.
    """
    leaderboard, phase = board.leaderboard, board.phase
    assert leaderboard is not None
    if scores is None:
        scores = scores_of([line.release for line in lines], with_parts(leaderboard, within), slice_)
    summary = board.stored_summary
    shared = summary.tied_ranks if summary else _shared_by(lines)
    track_ranks = summary.track_ranks if summary else _track_ranks_of(phase, lines)
    shows_ranges = reveals_comparisons(phase)
    named = _named(phase, viewer, named_at or timezone.now())
    shown_scores = with_bounds(leaderboard, scores)
    is_public = phase.benchmark.state == Benchmark.State.PUBLIC
    asked = bool(phase.benchmark.facts)
    titles = {track.name: track.title for track in tracks.of(phase)}
    rows = []
    for line in lines:
        name = named(line)
        rank, cost, track = line.rank, line.cost, line.track
        track_rank, track_tied = track_ranks.get((track, rank), (None, False))
        row = Row(
            rank=rank,
            tied=rank is not None and rank in shared,
            rank_low=line.rank_low if shows_ranges else None,
            rank_high=line.rank_high if shows_ranges else None,
            system=name.system,
            team=name.team,
            team_id=name.team_id if is_public else None,
            kind=line.kind,
            description=name.description,
            paper_url=name.paper_url,
            code_url=name.code_url,
            system_id=line.system,
            board_id=leaderboard.pk,
            submission_id=line.submission,
            run_id=line.run,
            received_at=_parse_datetime(line.received_at),
            released_at=_parse_datetime(line.released_at),
            warnings=read_json(line.warnings),
            scores=shown_scores.get(line.release, {}),
            cost=costs.shown_cost(read_json(cost)) if cost else None,
            no_cost=_no_cost(cost, line.sent_as),
            disqualified=line.disqualified,
            anonymous_until=name.anonymous_until,
            is_hidden=name.is_hidden,
            facts={} if name.is_hidden or not asked else facts_of(phase.benchmark, read_json(line.facts)),
            track=track,
            track_title=titles.get(track, track),
            track_rank=track_rank,
            track_tied=track_tied,
        )
        rows.append(row)
    return rows


def _shared_by(lines: Iterable[Line]) -> Collection[int]:
    """Return the ranks that several of the lines share."""
    return {rank for rank, n in Counter(line.rank for line in lines if line.rank is not None).items() if n > 1}


def _track_ranks_of(phase: Phase, lines: Iterable[Line]) -> TrackRanks:
    """Return the ranks within tracks; {} without tracks. lines: of all standings of one board."""
    return ranks_of((line.track, line.rank) for line in lines) if phase.tracks else {}


def _parse_datetime(text: str) -> datetime:
    """Parse a datetime that the database has cast to text; one without a time zone, as on SQLite, is in UTC."""
    parsed = datetime.fromisoformat(text)
    return parsed.replace(tzinfo=timezone.get_default_timezone()) if parsed.tzinfo is None else parsed


def scores_of(
    releases: Collection[int], within: Collection[str] | None = (), slice_: Slice = WHOLE
) -> dict[int, ShownScores]:
    """Return, by release id, the scores on a slice, and those on slices by dimensions in `within`; None: on all slices.

    With `within`, the overall scores are among them.
    """
    slices = ReleaseSlice.objects.filter(release__in=releases)
    if within is not None:
        is_shown = Q(slice_key=slice_key(slice_))
        slices = slices.filter(is_shown | Q(dimensions__in=_combined(within)) if within else is_shown)
    scores: dict[int, ShownScores] = {}
    lines = slices.order_by("release", "pk").values_list("release_id", "slice_key", _as_text("scores"))
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


def _named(phase: Phase, viewer: Any, at: datetime) -> Callable[[Line], Shown]:
    """Return a function that returns the names of a line's system as the viewer may see them at the time `at`."""
    shown_as = names_for(viewer, phase.benchmark, at)

    def named(line: Line) -> Shown:
        described = (line.description, line.paper_url, line.code_url)
        if line.anonymous_until is None or line.anonymous_until <= at:
            return Shown(line.name, line.team_name, *described, "", None, team_id=line.team)
        description, paper_url, code_url = described
        return shown_as(
            System(
                pk=line.system,
                name=line.name,
                description=description,
                paper_url=paper_url,
                code_url=code_url,
                anonymous_until=line.anonymous_until,
                anonymous_number=line.anonymous_number,
                team=Team(pk=line.team, name=line.team_name),
            )
        )

    return named


def _no_cost(cost: object, sent: str) -> str:
    if cost is not None:
        return ""
    is_file = sent == Submission.Kind.PREDICTIONS
    return "uploaded as a file: what it took to make is not known" if is_file else "not measured"
