"""A board as of the end of a past day, reconstructed from the releases until then.

The rules are in docs/boards.md, section "As of a day".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import (
    Case,
    DateTimeField,
    F,
    FilteredRelation,
    FloatField,
    IntegerField,
    Q,
    QuerySet,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, NullIf, RowNumber
from django.utils import timezone

from leaderboard.boards.disclosure.policies import lets_choose
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.board import Board, Version
from leaderboard.boards.queries.ladder_bounds import with_parts
from leaderboard.boards.queries.reading import (
    FIELDS,
    TEXTS,
    as_text,
    build_rows,
    scores_of,
    shared_by,
    track_ranks_of,
)
from leaderboard.boards.queries.representative import ShownRun, ranked
from leaderboard.boards.queries.request import InvalidQuery
from leaderboard.boards.queries.rows import Row
from leaderboard.boards.queries.visible_boards import shown_board
from leaderboard.models import (
    AuditEntry,
    Disqualification,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Release,
    Representative,
)

ACTS = ("system.disqualified", "system.reinstated", "system.represented")
_SYSTEM = "submission__system__"


def _of_release(path: str) -> str:
    """Convert a field path that starts at Standing to the path of the same field that starts at Release."""
    if path == "release_id":
        return "pk"
    return path.removeprefix("release__") if path.startswith("release__") else f"submission__{path}"


_FIELDS = tuple(_of_release(path) for path in FIELDS[FIELDS.index("system_id") :])
_TEXTS = tuple(_of_release(path) for path in TEXTS)


def head_at(phase: Phase, day: date, version: Version | None = None) -> Board:
    """Return a phase's board as of the end of a day (UTC), without its rows, which `rows_at` reads.

    version: (gold version's number, task version) of the board; None: the board that was current at the end of the day.
    `leaderboard` of the result is None if no board was current then, or if the board of the version was never public.
    """
    leaderboard = shown_board(phase, version) if version else _shown_at(phase, end_of_day(day))
    gold = leaderboard.gold_version if leaderboard else None
    return Board(phase, leaderboard, gold, [], as_of=day)


def end_of_day(day: date) -> datetime:
    """Return the end of a day in UTC, which is the midnight at which the next day begins."""
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def rows_at(board: Board, *, within: Collection[str] | None, viewer: Any) -> list[Row]:
    """Return all rows of a board from `head_at`, unordered.

    within: dimensions whose slices are read as well as the overall scores; None: all.
    viewer: the user who reads the board; None: the public. Names are those that this viewer is shown today: a name that
    has become public since is shown, and a name that is hidden today is not.
    """
    assert board.leaderboard is not None and board.as_of is not None
    at = end_of_day(board.as_of)
    sign = board_state.direction(board.leaderboard, board.primary)
    systems = {*board.leaderboard.standings.values_list("system", flat=True), *_ever_hidden(board.phase)}
    chosen, out = decided(board.leaderboard, systems, at)
    best = _represented(board, at, chosen=chosen if lets_choose(board.phase) else {}, sign=sign)
    ranks = ranked(best, out=out, sign=sign)
    releases = [representative.release for representative in best.values()]
    lines = [
        (ranks.get(line[0]), None, None, out.get(line[0], ""), *line)
        for line in Release.objects.filter(pk__in=releases).values_list(*_FIELDS, *as_text(*_TEXTS))
    ]
    track_ranks = track_ranks_of(board.phase, lines)
    scores = scores_of(releases, with_parts(board.leaderboard, within))
    return build_rows(
        board.leaderboard,
        board.phase,
        lines,
        scores,
        shared=shared_by(lines),
        track_ranks=track_ranks,
        viewer=viewer,
    )


def _shown_at(phase: Phase, at: datetime) -> Leaderboard | None:
    shown = phase.leaderboards.filter(state__in=Leaderboard.PUBLIC, shown_from__lt=at)
    board = shown.select_related("gold_version", "ranking").order_by("-shown_from", "-pk").first()
    if board is not None:
        board.phase = phase  # the caller's instance, with its related rows loaded
    return board


def _until_then(board: Leaderboard, at: datetime) -> QuerySet[Release]:
    released = Release.objects.filter(
        phase=board.phase_id,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
        released_at__lt=at,
    )
    hidden = HiddenSubmission.objects.at(at).filter(submission__phase=board.phase_id)
    return released.exclude(submission__in=hidden.values("submission")).order_by()


def _ever_hidden(phase: Phase) -> set[int]:
    """Return ids of systems with a submission that is or was hidden in the phase; they may have no standing today."""
    hidden = HiddenSubmission.objects.filter(submission__phase=phase).order_by()
    return set(hidden.values_list("submission__system", flat=True))


def _represented(board: Board, at: datetime, *, chosen: Mapping[int, UUID], sign: int) -> dict[int, ShownRun]:
    """Return, by system id, the release that represented the system at the datetime `at`.

    A release that represents its system today and existed at that time represented it then, too, unless the team has
    chosen a submission or the organisers have hidden one. So older releases are searched only for systems with such a
    decision, and for systems whose current release was published at `at` or later.

    chosen: by system id, the id of the submission that its team had chosen at that time. sign: +1 if higher values of
    the primary measure are better, else -1.
    """
    leaderboard = board.leaderboard
    assert leaderboard is not None
    subjects = [f"system:{pk}" for pk in leaderboard.standings.values_list("system", flat=True)]
    choices = AuditEntry.objects.filter(action="system.represented", subject__in=subjects)
    hidden = _ever_hidden(leaderboard.phase)
    chose = {int(subject.removeprefix("system:")) for subject in choices.values_list("subject", flat=True).distinct()}
    unchanged = Q(release__released_at__lt=at) & ~Q(system__in=chose | hidden)
    fields = ("system__kind", "release__submission_id", "release__submission__received_at", "value")
    rows = leaderboard.standings.filter(unchanged).values_list("release_id", "release__sequence", "system_id", *fields)
    current = {release.system: release for release in (ShownRun(*row) for row in rows)}
    others = {*leaderboard.standings.exclude(unchanged).values_list("system_id", flat=True), *hidden}
    releases = _until_then(leaderboard, at).filter(submission__system__in=others)
    return current | _best(releases, board.primary, chosen=chosen, sign=sign)


def _best(releases: QuerySet[Release], primary: str, *, chosen: Mapping[int, UUID], sign: int) -> dict[int, ShownRun]:
    """Return, by system id, the release that represents each system: the chosen submission's, else the best one.

    These are the rules of `representative.represented`, applied by the database, which returns one row per system.
    chosen, sign: as for `_represented`.
    """
    # SQLite returns JSON null as the text "null".
    text = NullIf(KeyTextTransform("0", KeyTransform(primary, F("whole__scores"))), Value("null"))
    received = F("submission__received_at")
    valued = releases.alias(whole=FilteredRelation("slices", condition=Q(slices__slice_key=""))).annotate(
        value=Cast(text, FloatField())
    )
    by_merit = Window(
        RowNumber(),
        partition_by=F(f"{_SYSTEM}id"),
        order_by=[
            Case(When(submission__in=list(chosen.values()), then=0), default=1, output_field=IntegerField()).asc(),
            (F("value") * sign).desc(nulls_last=True),
            # Releases without a value are in order of their sequence, whenever they were received.
            Case(When(value__isnull=False, then=received), default=None, output_field=DateTimeField()).asc(),
            F("sequence").asc(),
        ],
    )
    fields = ("pk", "sequence", f"{_SYSTEM}id", f"{_SYSTEM}kind", "submission_id", "submission__received_at", "value")
    best = valued.annotate(rank_in_system=by_merit).filter(rank_in_system=1).values_list(*fields)
    return {release.system: release for release in (ShownRun(*row) for row in best)}


def _until(board: Leaderboard, at: datetime) -> datetime:
    """Return the earlier of `at` and the time at which the board was frozen: later decisions do not affect it."""
    if board.shown_from is None:
        return at
    later = board.phase.leaderboards.filter(state__in=Leaderboard.PUBLIC, shown_from__gt=board.shown_from)
    frozen = later.order_by("shown_from").values_list("shown_from", flat=True).first()
    return min(at, frozen) if frozen else at


def decided(board: Leaderboard, systems: Collection[int], at: datetime) -> tuple[Mapping[int, UUID], Mapping[int, str]]:
    """Return the chosen submissions and the disqualifications that applied at the datetime `at`, from the audit trail.

    systems: ids. Both mappings are by system id: to the submission that the team had chosen, and to the public reason
    for which the system was disqualified. Systems without a choice or a disqualification are missing. If the board was
    frozen before `at`, the decisions at the time of freezing are returned.
    """
    subjects = {f"system:{pk}": pk for pk in systems}
    until = AuditEntry.objects.filter(action__in=ACTS, subject__in=subjects, at__lt=_until(board, at))
    ordered = until.order_by("at", "pk")
    entries = list(ordered.values_list("action", "subject", "detail"))
    submissions = {detail.get("submission") for _, _, detail in entries} - {None}
    of_phase = {str(pk) for pk in board.phase.submissions.filter(pk__in=submissions).values_list("pk", flat=True)}
    chosen: dict[int, UUID] = {}
    out: dict[int, str] = {}
    for action, subject, detail in entries:
        system = subjects[subject]
        if action == "system.represented":
            if detail["submission"] in of_phase:
                chosen[system] = UUID(detail["submission"])
            elif detail.get("phase") == str(board.phase_id):
                chosen.pop(system, None)
        elif detail["phase"] == board.phase_id:
            out.pop(system, None)
            if action == "system.disqualified":
                out[system] = detail["reason"]
    return chosen, out


def decided_now(board: Leaderboard, systems: Collection[int]) -> tuple[Mapping[int, UUID], Mapping[int, str]]:
    """Return the mappings of `decided` as of now; for a frozen board, as of the time at which it was frozen."""
    if board.state == Leaderboard.State.FROZEN:
        return decided(board, systems, timezone.now())
    of_them = {"phase": board.phase_id, "system__in": systems}
    chosen = Representative.objects.filter(**of_them).values_list("system", "submission")
    return dict(chosen), dict(Disqualification.objects.filter(**of_them).values_list("system", "reason"))


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
