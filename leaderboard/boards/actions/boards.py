"""Changes of leaderboards: creation, standings, ranks, and the switch to a prepared board once it is complete."""

from __future__ import annotations

from django.db import models
from django.db.models import F
from django.utils import timezone

from leaderboard.boards.actions import rank_changes
from leaderboard.boards.queries import as_of, board_state
from leaderboard.boards.queries.representative import ShownRun, represented
from leaderboard.models import (
    Disqualification,
    GoldVersion,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Release,
    Run,
    Standing,
    System,
)

NO_RANK = {"rank": None, "rank_low": None, "rank_high": None}


def of_run(*, phase: Phase, run: Run) -> Leaderboard:
    """Return the phase's board for the gold version and task version of a run; create it if it does not exist."""
    return opened(phase=phase, gold_id=run.gold_version_id, task_version=run.task_version)


def opened(*, phase: Phase, gold_id: int, task_version: int) -> Leaderboard:
    """Return a phase's board for a gold version and a task version; create it if it does not exist.

    A new board is current if the phase has no current board, in preparation if its versions are later than those of
    the current board, and frozen if they are earlier.
    """
    shown = board_state.current(phase)
    gold = GoldVersion.objects.get(pk=gold_id)
    if shown is None:
        state = Leaderboard.State.CURRENT
    elif (gold.number, task_version) > (shown.gold_version.number, shown.task_version):
        state = Leaderboard.State.PREPARING
    else:
        # The run began before the gold was corrected and ended after: the old gold's board must not become current.
        state = Leaderboard.State.FROZEN
    shown_from = timezone.now() if state == Leaderboard.State.CURRENT else None
    board, _ = Leaderboard.objects.get_or_create(
        phase=phase,
        gold_version_id=gold_id,
        task_version=task_version,
        defaults={"state": state, "shown_from": shown_from},
    )
    return board


def publish_if_complete(phase: Phase) -> bool:
    """Make the board in preparation current if every prediction has been scored or rejected on it.

    Return True if the board became current. The previous board is then frozen, other boards in preparation are
    cancelled, and the rank changes are stored. Call in a transaction that holds a lock on the phase's row.
    """
    board = board_state.preparing(phase)
    if board is None or board_state.unscored(board).exists():
        return False
    replaced, others = board_state.current(phase), phase.leaderboards.exclude(pk=board.pk)
    others.filter(state=Leaderboard.State.PREPARING).update(state=Leaderboard.State.CANCELLED)
    others.filter(state=Leaderboard.State.CURRENT).update(state=Leaderboard.State.FROZEN)
    Leaderboard.objects.filter(pk=board.pk).update(state=Leaderboard.State.CURRENT, shown_from=timezone.now())
    revise(phase.leaderboards.all())
    if replaced is not None:
        rank_changes.record(replaced=replaced, board=board, measure=board_state.primary_of(board))
    return True


def revise(changed: models.QuerySet[Leaderboard]) -> None:
    """Increment the revision of each changed board, which invalidates its ETags and cached responses."""
    changed.update(revision=F("revision") + 1)


def upsert_standing(*, board: Leaderboard, system: System, release: Release) -> bool:
    """Update a system's standing on a board after a new release; return True if the release now represents the system.

    The submission that the team chose represents the system. Without a choice, it is the submission with the best
    primary value, and of equal ones the one received first. A hidden submission never represents its system.
    """
    if HiddenSubmission.objects.now().filter(submission=release.submission_id).exists():
        return False
    value = board_state.primary_value(release)
    out = Disqualification.objects.filter(phase=board.phase_id, system=system).values_list("reason", flat=True).first()
    standing, created = Standing.objects.get_or_create(
        leaderboard=board, system=system, defaults={"release": release, "value": value, "disqualified": out or ""}
    )
    sign = board_state.direction(board, release.primary)
    better = value is not None and (standing.value is None or sign * value > sign * standing.value)
    if not created and value is not None and value == standing.value:
        # Workers finish in any order, so the time of receipt breaks ties: a rescoring must not change the choice.
        better = release.submission.received_at < standing.release.submission.received_at
    if not created and (chosen := board_state.chosen_of(board.phase_id, system)) is not None:
        is_chosen, had_chosen = release.submission_id == chosen, standing.release.submission_id == chosen
        better = is_chosen or (better and not had_chosen)
    if not created and better:
        standing.release, standing.value = release, value
        standing.save(update_fields=["release", "value"])
    return created or better


def recompute_standing(board: Leaderboard, system: System) -> bool:
    """Choose again which release represents a system on a board; delete its standing if no release is visible.

    Return True if the standing changed or was deleted. The caller holds a lock on the phase's row, and calls `rank`
    afterwards.
    """
    standing = board.standings.filter(system=system).first()
    releases = {release.pk: release for release in board_state.shown_releases(board).filter(submission__system=system)}
    if not releases:
        return standing is not None and bool(standing.delete()[0])
    sign = board_state.direction(board, next(iter(releases.values())).primary)
    chosen, out = as_of.decided_now(board, [system.pk])
    candidates = (ShownRun.of(release, board_state.primary_value(release)) for release in releases.values())
    best = represented(candidates, chosen=chosen, sign=sign)[system.pk]
    if standing is not None and standing.release_id == best.release:
        return False
    # Clear the ranks: a standing without a value must not have any, and `rank` ranks all standings with a value.
    board.standings.update_or_create(
        system=system,
        defaults={"release": releases[best.release], "value": best.value, **NO_RANK},
        create_defaults={
            "release": releases[best.release],
            "value": best.value,
            "disqualified": out.get(system.pk, ""),
        },
    )
    return True


def rank(board: Leaderboard) -> None:
    """Rank a board's competing systems by the value of the primary measure; equal values share a rank (1, 1, 3)."""
    revise(Leaderboard.objects.filter(pk=board.pk))
    competing = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, disqualified="")
    valued = [
        (standing.value, standing) for standing in competing.select_related("release") if standing.value is not None
    ]
    if not valued:
        return
    sign = board_state.direction(board, valued[0][1].release.primary)
    valued.sort(key=lambda pair: (-sign * pair[0], pair[1].pk))
    changed, shared_rank, previous = [], 0, None
    for position, (value, standing) in enumerate(valued, start=1):
        if value != previous:
            shared_rank, previous = position, value
        if standing.rank != shared_rank:
            standing.rank = shared_rank
            changed.append(standing)
    Standing.objects.bulk_update(changed, ["rank"])
