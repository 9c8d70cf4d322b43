"""A board as of the end of a past day, read from past standings.

The rules are in docs/boards.md, section "As of a day".
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import (
    Aggregate,
    Case,
    Count,
    F,
    FilteredRelation,
    FloatField,
    IntegerField,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, NullIf
from django.utils import timezone

from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.board import Board, Summary, Version
from leaderboard.boards.queries.reading import Line, cost_kinds
from leaderboard.boards.queries.representative import ShownRun
from leaderboard.boards.queries.request import InvalidQuery
from leaderboard.boards.queries.track_ranks import ranks_of
from leaderboard.boards.queries.visible_boards import counted_once, shown_at, shown_board
from leaderboard.models import (
    AuditEntry,
    BoardHistory,
    Disqualification,
    Leaderboard,
    PastStanding,
    Phase,
    Release,
    Representative,
    System,
)

ACTS = ("system.disqualified", "system.reinstated", "system.represented")


@dataclass(frozen=True)
class PastBoard(Board):
    """A board as of a past day.

    merits: those of the ranked systems, in ascending order. A system's merit is its value, with the sign by which less
    is better.
    """

    merits: Sequence[float] = ()

    def ranked(self, lines: Iterable[Line]) -> list[Line]:
        """Return the lines of `standings_of` with ranks in place of merits."""
        return [
            line if line.rank is None else line._replace(rank=1 + bisect_left(self.merits, line.rank)) for line in lines
        ]


def head_at(phase: Phase, day: date, version: Version | None = None) -> Board:
    """Return a phase's board as of the end of a day (UTC), without its rows, which `paging.page_of` reads.

    version: (gold version's number, task version) of the board; None: the board that was current at the end of the day.
    `leaderboard` of the result is None if no board was current then, or if the board of the version was never public.
    Raises InvalidQuery while the past standings of the board are being derived.
    """
    leaderboard = shown_board(phase, version) if version else shown_at(phase, end_of_day(day))
    if leaderboard is None:
        return Board(phase, None, None, [], as_of=day)
    if not BoardHistory.objects.filter(leaderboard=leaderboard, is_complete=True).exists():
        raise InvalidQuery("as_of", "The past days of this board are being prepared. Try again in a few minutes.")
    sign = board_state.direction(leaderboard, board_state.primary_of(leaderboard))
    has_tracks = bool(phase.tracks)
    summary, merits = counted_once(
        "past", leaderboard, lambda: _counted(leaderboard.pk, day, sign, has_tracks), day, has_tracks
    )
    gold = leaderboard.gold_version
    return PastBoard(phase, leaderboard, gold, [], stored_summary=summary, as_of=day, merits=merits)


def _counted(board: int, day: date, sign: int, has_tracks: bool) -> tuple[Summary, Sequence[float]]:
    """Return the summary of a board's rows at the end of a day, and the merits of its ranked systems in order."""
    standings = _at(PastStanding.objects.filter(leaderboard=board), day, sign)
    # One text is read faster than a row for each system, and Python sorts faster than the database does.
    numbers = _Joined("rank", filter=Q(rank__isnull=False))
    n = standings.aggregate(rows=Count("pk"), competing=Count("pk", filter=_COMPETES), merits=numbers)
    merits = array("d", sorted(msgspec.json.decode(f"[{n['merits'] or ''}]", type=list[float])))
    ranks = {1 + bisect_left(merits, a) for a, b in pairwise(merits) if a == b}
    has_costs = Release.objects.filter(phase__leaderboards=board, cost__isnull=False).exists()
    by_track = standings.exclude(rank=None).values_list("release__submission__track", "rank") if has_tracks else ()
    summary = Summary(
        n_rows=n["rows"],
        n_ranked=len(merits),
        n_competing=n["competing"],
        tied_ranks=frozenset(ranks),
        cost_kinds=cost_kinds(standings) if has_costs else (),
        track_ranks=ranks_of((track, 1 + bisect_left(merits, merit)) for track, merit in by_track),
    )
    return summary, merits


class _Joined(Aggregate):
    """SQL function: numbers as one text, separated by commas, from which they can be read exactly."""

    output_field = TextField()
    template = "STRING_AGG((%(expressions)s)::text, ',')"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        joined = self.copy()
        joined.template = "GROUP_CONCAT(PRINTF('%%%%!.17g', %(expressions)s))"
        return joined.as_sql(compiler, connection, **extra)


def end_of_day(day: date) -> datetime:
    """Return the end of a day in UTC, which is the midnight at which the next day begins."""
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def standings_of(board: Board) -> QuerySet[Any]:
    """Return the standings of a board, as of its day: then with `rank`, `rank_low` and `rank_high` like present ones.

    `rank` is then the merit of a ranked system (see `PastBoard`), by which rows are in the order of their ranks; null
    of other systems. The two others are null.
    """
    assert board.leaderboard is not None
    if board.as_of is None:
        return board.leaderboard.standings.all()
    sign = board_state.direction(board.leaderboard, board.primary)
    return _at(board.leaderboard.past_standings.all(), board.as_of, sign)


def _at(standings: QuerySet[PastStanding], day: date, sign: int) -> QuerySet[Any]:
    at = end_of_day(day)
    merit = Case(When(_COMPETES, then=F("value") * Value(-float(sign))), default=None, output_field=FloatField())
    none = Value(None, output_field=IntegerField())
    current = standings.filter(Q(until=None) | Q(until__gte=at), since__lt=at)
    return current.order_by().annotate(rank=merit, rank_low=none, rank_high=none)


_COMPETES = Q(disqualified="") & ~Q(system__in=System.objects.exclude(kind=System.Kind.PARTICIPANT).values("pk"))


def shown_runs(board: Leaderboard, systems: Collection[int]) -> Iterator[tuple[datetime, ShownRun]]:
    """Yield (time of release, run) of all releases of these systems on a board, in the order of their release."""
    # SQLite returns JSON null as the text "null".
    primary = board_state.primary_of(board)
    text = NullIf(KeyTextTransform("0", KeyTransform(primary, F("whole__scores"))), Value("null"))
    releases = (
        Release.objects.filter(
            phase=board.phase_id,
            run__gold_version=board.gold_version_id,
            run__task_version=board.task_version,
            submission__system__in=systems,
        )
        .alias(whole=FilteredRelation("slices", condition=Q(slices__slice_key="")))
        .annotate(primary_value=Cast(text, FloatField()))
        .order_by("released_at", "sequence")
    )
    system = "submission__system__"
    fields = (f"{system}id", f"{system}kind", "submission_id", "submission__received_at", "primary_value")
    for released_at, *run in releases.values_list("released_at", "pk", "sequence", *fields):
        yield released_at, ShownRun(*run)


@dataclass(frozen=True)
class Decision:
    """A decision about a system on a board. choice: (chosen submission,), with None for the best; None: none is made.

    reason: why the system is disqualified from then on; empty: it is reinstated; None: neither.
    """

    at: datetime
    choice: tuple[UUID | None] | None = None
    reason: str | None = None

    def apply(self, chosen: UUID | None, reason: str) -> tuple[UUID | None, str]:
        """Return the chosen submission and the reason of the disqualification after the decision."""
        return self.choice[0] if self.choice else chosen, reason if self.reason is None else self.reason


def decisions_of(board: Leaderboard, systems: Collection[int], before: datetime | None) -> dict[int, list[Decision]]:
    """Return the decisions about systems on a board from the audit trail, by system id, in the order of time.

    before: decisions from this time on are left out; None: none is. Systems without decisions are missing.
    """
    subjects = {f"system:{pk}": pk for pk in systems}
    entries = AuditEntry.objects.filter(action__in=ACTS, subject__in=subjects)
    if before is not None:
        entries = entries.filter(at__lt=before)
    lines = list(entries.order_by("at", "pk").values_list("at", "action", "subject", "detail"))
    submissions = {detail.get("submission") for *_, detail in lines} - {None}
    of_phase = {str(pk) for pk in board.phase.submissions.filter(pk__in=submissions).values_list("pk", flat=True)}
    decisions: dict[int, list[Decision]] = {}
    for at, action, subject, detail in lines:
        decision = None
        if action == "system.represented":
            if detail["submission"] in of_phase:
                decision = Decision(at, choice=(UUID(detail["submission"]),))
            elif detail.get("phase") == str(board.phase_id):
                decision = Decision(at, choice=(None,))
        elif detail["phase"] == board.phase_id:
            decision = Decision(at, reason=detail["reason"] if action == "system.disqualified" else "")
        if decision is not None:
            decisions.setdefault(subjects[subject], []).append(decision)
    return decisions


def frozen_at(board: Leaderboard) -> datetime | None:
    """Return the time at which a board was frozen: later decisions do not affect it. None: it is not frozen."""
    if board.shown_from is None:
        return None
    later = board.phase.leaderboards.filter(state__in=Leaderboard.PUBLIC, shown_from__gt=board.shown_from)
    return later.order_by("shown_from").values_list("shown_from", flat=True).first()


def decided_now(board: Leaderboard, systems: Collection[int]) -> tuple[Mapping[int, UUID], Mapping[int, str]]:
    """Return the chosen submissions and the disqualifications of systems on a board; of a frozen board, when it froze.

    systems: ids. Both mappings are by system id: to the submission that the team has chosen, and to the public reason
    for which the system is disqualified. Systems without a choice or a disqualification are missing.
    """
    if board.state == Leaderboard.State.FROZEN:
        return _decided(board, systems, frozen_at(board))
    of_them = {"phase": board.phase_id, "system__in": systems}
    chosen = Representative.objects.filter(**of_them).values_list("system", "submission")
    return dict(chosen), dict(Disqualification.objects.filter(**of_them).values_list("system", "reason"))


def _decided(
    board: Leaderboard, systems: Collection[int], before: datetime | None
) -> tuple[Mapping[int, UUID], Mapping[int, str]]:
    chosen: dict[int, UUID] = {}
    out: dict[int, str] = {}
    for system, decisions in decisions_of(board, systems, before).items():
        choice: UUID | None = None
        reason = ""
        for decision in decisions:
            choice, reason = decision.apply(choice, reason)
        if choice is not None:
            chosen[system] = choice
        if reason:
            out[system] = reason
    return chosen, out


def day_in(text: str) -> date | None:
    """Parse a day such as 2026-11-01; None for empty text. Raises InvalidQuery for other text and future days."""
    if not text:
        return None
    today = timezone.now().date()
    try:
        day = date.fromisoformat(text) if len(text) == len("2026-11-01") else None
    except ValueError:
        day = None
    if day is None:
        raise InvalidQuery("as_of", f'"{text}" is not a date, expected one like {today.isoformat()}.')
    if day > today:
        raise InvalidQuery("as_of", f'"{text}" is in the future, expected a date up to today, {today.isoformat()}.')
    return day
