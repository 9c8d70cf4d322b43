"""A board as it stood when a day ended, from what was released until then. docs/boards.md says what is as of then."""

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
from leaderboard.boards.queries.reading import FIELDS, TEXTS, as_text, cells_of, made, places_in, shared_by
from leaderboard.boards.queries.representative import Told, ranked
from leaderboard.boards.queries.request import AskedError
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
    """A path from Standing as the one from its release."""
    if path == "release_id":
        return "pk"
    return path.removeprefix("release__") if path.startswith("release__") else f"submission__{path}"


_FIELDS = tuple(_of_release(path) for path in FIELDS[FIELDS.index("system_id") :])
_TEXTS = tuple(_of_release(path) for path in TEXTS)


def head_at(phase: Phase, day: date, version: Version | None = None) -> Board:
    """The board that was shown as the day ended, without its rows; or that version, as far as it had come."""
    leaderboard = shown_board(phase, version) if version else _shown_at(phase, ends(day))
    gold = leaderboard.gold_version if leaderboard else None
    return Board(phase, leaderboard, gold, [], as_of=day)


def ends(day: date) -> datetime:
    """When a day is over, UTC."""
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def rows_at(board: Board, *, within: Collection[str] | None, reader: Any) -> list[Row]:
    """All rows of a board of `head_at`, in no order. Names are told as they are today: what is open stays open, and
    what is hidden today was not to be known then."""
    assert board.leaderboard is not None and board.as_of is not None
    at = ends(board.as_of)
    sign = board_state.direction(board.leaderboard, board.primary)
    systems = {*board.leaderboard.standings.values_list("system", flat=True), *_ever_hidden(board.phase)}
    chosen, out = decided(board.leaderboard, systems, at)
    best = _represented(board, at, chosen=chosen if lets_choose(board.phase) else {}, sign=sign)
    ranks = ranked(best, out=out, sign=sign)
    releases = [one.release for one in best.values()]
    lines = [
        (ranks.get(line[0]), None, None, out.get(line[0], ""), *line)
        for line in Release.objects.filter(pk__in=releases).values_list(*_FIELDS, *as_text(*_TEXTS))
    ]
    places = places_in(board.phase, lines)
    cells = cells_of(releases, within)
    return made(board.phase, lines, cells, shared=shared_by(lines), places=places, reader=reader)


def _shown_at(phase: Phase, at: datetime) -> Leaderboard | None:
    shown = phase.leaderboards.filter(state__in=Leaderboard.PUBLIC, shown_from__lt=at)
    found = shown.select_related("gold_version", "ranking").order_by("-shown_from", "-pk").first()
    if found is not None:
        found.phase = phase  # as it came, with what it was selected with
    return found


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
    """The systems of which a submission to the phase is or was hidden: those that are may stand on no board now."""
    hidden = HiddenSubmission.objects.filter(submission__phase=phase).order_by()
    return set(hidden.values_list("submission__system", flat=True))


def _represented(board: Board, at: datetime, *, chosen: Mapping[int, UUID], sign: int) -> dict[int, Told]:
    """What represented each system at that moment.

    What stands today and was there already was the best then, too: only the releases of systems that have been
    represented by another one since, or about which their teams or organisers have decided something, are looked
    through.
    """
    leaderboard = board.leaderboard
    assert leaderboard is not None
    decided_on = [f"system:{pk}" for pk in leaderboard.standings.values_list("system", flat=True)]
    acts = AuditEntry.objects.filter(action="system.represented", subject__in=decided_on)
    hidden = _ever_hidden(leaderboard.phase)
    turned = {int(subject.removeprefix("system:")) for subject in acts.values_list("subject", flat=True).distinct()}
    there = Q(release__released_at__lt=at) & ~Q(system__in=turned | hidden)
    named = ("system__kind", "release__submission_id", "release__submission__received_at", "value")
    still = leaderboard.standings.filter(there).values_list("release_id", "release__sequence", "system_id", *named)
    found = {one.system: one for one in (Told(*line) for line in still)}
    others = {*leaderboard.standings.exclude(there).values_list("system_id", flat=True), *hidden}
    told = _until_then(leaderboard, at).filter(submission__system__in=others)
    return found | _best(told, board.primary, chosen=chosen, sign=sign)


def _best(told: QuerySet[Release], primary: str, *, chosen: Mapping[int, UUID], sign: int) -> dict[int, Told]:
    """`choosing.represented` of what was told, chosen by the database: a row a system comes out of it."""
    # SQLite writes JSON's null out as a word.
    text = NullIf(KeyTextTransform("0", KeyTransform(primary, F("whole__cells"))), Value("null"))
    received = F("submission__received_at")
    valued = told.alias(whole=FilteredRelation("slices", condition=Q(slices__slice_key=""))).annotate(
        value=Cast(text, FloatField())
    )
    by_merit = Window(
        RowNumber(),
        partition_by=F(f"{_SYSTEM}id"),
        order_by=[
            Case(When(submission__in=list(chosen.values()), then=0), default=1, output_field=IntegerField()).asc(),
            (F("value") * sign).desc(nulls_last=True),
            # Of those without a value the one that was released first.
            Case(When(value__isnull=False, then=received), default=None, output_field=DateTimeField()).asc(),
            F("sequence").asc(),
        ],
    )
    named = ("pk", "sequence", f"{_SYSTEM}id", f"{_SYSTEM}kind", "submission_id", "submission__received_at", "value")
    best = valued.annotate(place=by_merit).filter(place=1).values_list(*named)
    return {one.system: one for one in (Told(*line) for line in best)}


def _until(board: Leaderboard, at: datetime) -> datetime:
    """Boards that are frozen stay as they were: what was decided later does not reach them."""
    if board.shown_from is None:
        return at
    later = board.phase.leaderboards.filter(state__in=Leaderboard.PUBLIC, shown_from__gt=board.shown_from)
    frozen = later.order_by("shown_from").values_list("shown_from", flat=True).first()
    return min(at, frozen) if frozen else at


def decided(board: Leaderboard, systems: Collection[int], at: datetime) -> tuple[Mapping[int, UUID], Mapping[int, str]]:
    """By system what its team had chosen until `at`, and why its organisers had taken it out, from the audit trail."""
    subjects = {f"system:{pk}": pk for pk in systems}
    acts_until = AuditEntry.objects.filter(action__in=ACTS, subject__in=subjects, at__lt=_until(board, at))
    found = acts_until.order_by("at", "pk")
    acts = list(found.values_list("action", "subject", "detail"))
    named = {detail.get("submission") for _, _, detail in acts} - {None}
    of_phase = {str(pk) for pk in board.phase.submissions.filter(pk__in=named).values_list("pk", flat=True)}
    chosen: dict[int, UUID] = {}
    out: dict[int, str] = {}
    for action, subject, detail in acts:
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
    """Return what `decided` does, as the board shows it; on a frozen one, what held when it was frozen."""
    if board.state == Leaderboard.State.FROZEN:
        return decided(board, systems, timezone.now())
    of_them = {"phase": board.phase_id, "system__in": systems}
    chosen = Representative.objects.filter(**of_them).values_list("system", "submission")
    return dict(chosen), dict(Disqualification.objects.filter(**of_them).values_list("system", "reason"))


def day_in(text: str) -> date | None:
    """2026-11-01; None: none is asked for. Raises AskedError."""
    if not text:
        return None
    today = timezone.now().date()
    try:
        day = date.fromisoformat(text) if len(text) == len("2026-11-01") else None
    except ValueError:
        day = None
    if day is None:
        raise AskedError("as_of", f'"{text}" is no day, expected one such as {today.isoformat()}.')
    if day > today:
        raise AskedError("as_of", f'"{text}" is to come, expected a day until {today.isoformat()}.')
    return day
