"""Past standings of a board, derived from its releases, from hidden submissions and from decisions in the audit trail.

`catch_up` reads what is new in these since it last did, and derives the systems concerned again. The rules are in
docs/boards.md, section "As of a day".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from leaderboard.boards.disclosure.policies import lets_choose
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.as_of import ACTS, Decision, decisions_of, frozen_at, shown_runs
from leaderboard.boards.queries.representative import ShownRun, represented
from leaderboard.models import (
    AuditEntry,
    BoardHistory,
    HiddenSubmission,
    Leaderboard,
    PastStanding,
    Release,
    Submission,
)

HIDINGS = ("submission.hidden", "submission.unhidden", "submission.taken_off", "submission.put_back")
BATCH = 500


def catch_up(board: Leaderboard) -> bool:
    """Derive the past standings of systems with new releases or decisions; return whether none is left.

    At most BATCH releases and BATCH audit entries are read; the sweep reads what is left. `board` has its phase loaded;
    call with the phase's row locked, as all do who decide about its systems: so no entry about them appears before
    `last` later.
    """
    last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    # Earlier entries are read with the releases of the systems that they concern.
    history, _ = BoardHistory.objects.get_or_create(leaderboard=board, defaults={"entry": last})
    new = _releases(board).filter(pk__gt=history.release).order_by("pk")
    releases = list(new.values_list("pk", "submission__system")[:BATCH])
    entries = list(
        AuditEntry.objects.filter(action__in=(*HIDINGS, *ACTS), pk__gt=history.entry)
        .order_by("pk")
        .values_list("pk", "subject")[:BATCH]
    )
    systems = {system for _, system in releases} | _of_board(board, (subject for _, subject in entries))
    _derive(board, systems)
    history.release = releases[-1][0] if releases else history.release
    # Other entries are passed over, so that they are not read again by each change of the board.
    history.entry = entries[-1][0] if len(entries) == BATCH else last
    history.is_complete = max(len(releases), len(entries)) < BATCH
    history.save()
    return history.is_complete


def _of_board(board: Leaderboard, subjects: Iterable[str]) -> set[int]:
    """Return the ids of those systems that subjects of audit entries name, or whose submissions they name.

    Only systems with releases on the board are returned.
    """
    systems, submissions = set[int](), set[str]()
    for subject in subjects:
        kind, _, key = subject.partition(":")
        if kind == "system":
            systems.add(int(key))
        elif kind == "submission":
            submissions.add(key)
    if submissions:
        of_phase = Submission.objects.filter(phase=board.phase_id, pk__in=submissions)
        systems.update(of_phase.values_list("system", flat=True))
    shown = _releases(board).filter(submission__system__in=systems).order_by()
    return set(shown.values_list("submission__system", flat=True))


def _releases(board: Leaderboard) -> QuerySet[Release]:
    of_board = {"run__gold_version": board.gold_version_id, "run__task_version": board.task_version}
    return Release.objects.filter(phase=board.phase_id, **of_board)


@dataclass(frozen=True)
class _Hiding:
    submission: UUID
    start: datetime
    end: datetime | None

    def hides(self, run: ShownRun, at: datetime) -> bool:
        return run.submission == self.submission and self.start <= at and (self.end is None or self.end > at)


def _derive(board: Leaderboard, systems: set[int]) -> None:
    """Replace the past standings of these systems."""
    if not systems:
        return
    sign = board_state.direction(board, board_state.primary_of(board))
    runs: dict[int, list[tuple[datetime, ShownRun]]] = {}
    for at, run in shown_runs(board, systems):
        runs.setdefault(run.system, []).append((at, run))
    hidings: dict[int, list[_Hiding]] = {}
    rows = HiddenSubmission.objects.filter(submission__phase=board.phase_id, submission__system__in=systems)
    fields = ("submission__system", "submission", "hidden_at", "unhidden_at")
    for system, submission, start, end in rows.values_list(*fields):
        hidings.setdefault(system, []).append(_Hiding(submission, start, end))
    decisions = decisions_of(board, systems, before=frozen_at(board))
    can_choose = lets_choose(board.phase)
    derived = [
        PastStanding(leaderboard=board, **fields)
        for system in systems
        for fields in _periods(
            runs.get(system, []), hidings.get(system, []), decisions.get(system, []), sign=sign, can_choose=can_choose
        )
    ]
    board.past_standings.filter(system__in=systems).delete()
    PastStanding.objects.bulk_create(derived, batch_size=BATCH)


def _periods(
    runs: Sequence[tuple[datetime, ShownRun]],
    hidings: Sequence[_Hiding],
    decisions: Sequence[Decision],
    *,
    sign: int,
    can_choose: bool,
) -> Iterator[dict[str, object]]:
    """Yield the fields of one system's past standings in order of time.

    runs: with the time at which each was released, in order of time. decisions: in order of time. sign, can_choose: of
    the board.
    """
    changes = {moment for hiding in hidings for moment in (hiding.start, hiding.end) if moment is not None}
    changes |= {decision.at for decision in decisions}
    open_period: dict[str, object] | None = None
    n_runs = n_decisions = 0
    chosen: UUID | None = None
    reason = ""
    best: ShownRun | None = None
    for at in sorted(changes | {released for released, _ in runs}):
        candidates = [] if best is None else [best]
        while n_runs < len(runs) and runs[n_runs][0] <= at:
            candidates.append(runs[n_runs][1])
            n_runs += 1
        while n_decisions < len(decisions) and decisions[n_decisions].at <= at:
            chosen, reason = decisions[n_decisions].apply(chosen, reason)
            n_decisions += 1
        if at in changes:
            candidates = [run for _, run in runs[:n_runs]]
        shown = [run for run in candidates if not any(hiding.hides(run, at) for hiding in hidings)]
        choice = {run.system: chosen for run in shown[:1] if chosen is not None and can_choose}
        best = next(iter(represented(shown, chosen=choice, sign=sign).values()), None)
        state = None if best is None else (best.release, reason)
        if open_period is not None and state != (open_period["release_id"], open_period["disqualified"]):
            yield {**open_period, "until": at}
            open_period = None
        if best is not None and open_period is None:
            open_period = {
                "system_id": best.system,
                "release_id": best.release,
                "value": best.value,
                "received_at": best.received_at,
                "disqualified": reason,
                "since": at,
                "until": None,
            }
    if open_period is not None:
        yield open_period
