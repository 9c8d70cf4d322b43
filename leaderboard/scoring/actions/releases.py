"""What comes out of runs: releases, in sequence, as their phase's policy allows."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure import costs
from leaderboard.boards.disclosure.policies import Scores, reveal, reveal_cost, reveal_warnings
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.rows import dimensions_of, key_of, slice_of
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.models import Leaderboard, Phase, Prediction, Release, ReleaseSlice, Run, State, System

OF_A_SCORE = ("measure", "slice", "value", "low", "high", "n", "n_groups")


def slice_key(slice_: dict[str, Any]) -> str:
    """A slice as canonical JSON; the whole is the empty string."""
    return json.dumps(slice_, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if slice_ else ""


def by_slice(release: Release) -> list[ReleaseSlice]:
    """What a release told, a row a slice: what boards are sorted, filtered and paged by. Not stored yet."""
    found: dict[str, ReleaseSlice] = {}
    for score in release.values:
        slice_ = slice_of(score["slice"])
        key = key_of(slice_)
        row = found.setdefault(
            key, ReleaseSlice(release=release, slice_key=key, dimensions=dimensions_of(slice_), cells={})
        )
        row.cells[score["measure"]] = [score[name] for name in ("value", "low", "high", "n")]
    return list(found.values())


def publish(*, run: Run, primary: str, scores: Scores, warnings: list[str], at: datetime) -> Release | None:
    """Reveal a run as its phase's policy says, and set its system's standing. Call inside the run's transaction.

    On a ladder a run waits for those that arrived before it: None, and its release comes with theirs.
    """
    # One release at a time a phase: the sequence has no gaps, and two publishers cannot rank against each other.
    phase = Phase.objects.select_for_update().get(pk=run.prediction.submission.phase_id)
    board = boards.of_run(phase=phase, run=run)
    if phase.disclosure == Phase.Disclosure.LADDER:
        advance(board)
    else:
        _release(phase, board, run, primary=primary, scores=scores, warnings=warnings, at=at)
        boards.rank(board)
    boards.settle(phase)
    return Release.objects.filter(run=run).first()


def settle(phase: Phase) -> None:
    """A run has ended without scores: what waited for it comes out. The caller holds the phase's row."""
    if phase.disclosure == Phase.Disclosure.LADDER:
        for board in phase.leaderboards.filter(state__in=Leaderboard.OPEN):
            advance(board)
    boards.settle(phase)


def advance(board: Leaderboard) -> int:
    """Release the scored runs of a ladder's board that wait for nothing, in the order in which their predictions came;
    how many those were.

    Workers end in any order. Were runs released as they end, which of two answers is told would hang on it, and the
    board could not be made again. The caller holds the phase's row.
    """
    phase = board.phase
    first_open = _first_open(board)
    runs = _on(board).filter(state=State.DONE, release__isnull=True).select_related("prediction__submission__system")
    released, changed = 0, False
    for run in runs.order_by("prediction__arrival", "queued_at", "pk"):
        earliest = first_open.get(_scope(phase, run.prediction.submission.system.team_id))
        if earliest is not None and earliest < (run.prediction.arrival or 0):
            continue
        primary = board_state.primary_of(board)
        changed |= _release(
            phase,
            board,
            run,
            primary=primary,
            scores=stored_scores(run, board),
            warnings=run.warnings,
            at=timezone.now(),
        )
        released += 1
    if changed:  # an answer that told nothing leaves no trace, not even in a board's revision
        boards.rank(board)
    return released


def sweep() -> int:
    """Let out what waits on a ladder for nothing any more; how many runs. For what a cancelling has left."""
    held = Run.objects.filter(
        state=State.DONE, release__isnull=True, prediction__submission__phase__disclosure=Phase.Disclosure.LADDER
    )
    released = 0
    for pk in list(held.order_by().values_list("prediction__submission__phase", flat=True).distinct()):
        with transaction.atomic():
            phase = Phase.objects.select_for_update().get(pk=pk)
            released += sum(advance(board) for board in phase.leaderboards.filter(state__in=Leaderboard.OPEN))
            boards.settle(phase)
    return released


def _release(
    phase: Phase,
    board: Leaderboard,
    run: Run,
    *,
    primary: str,
    scores: Scores,
    warnings: list[str],
    at: datetime,
) -> bool:
    """Whether the release represents its system from here on: only then has the board changed."""
    submission = run.prediction.submission
    system = submission.system
    last = phase.releases.aggregate(last=Max("sequence"))["last"] or 0
    release = Release.objects.create(
        phase=phase,
        sequence=last + 1,
        run=run,
        submission=submission,
        policy=phase.disclosure,
        primary=primary,
        values=reveal(
            phase=phase,
            scores=scores,
            primary=primary,
            measure_of=board_state.measures_of(board),
            best=_best(phase, board, primary, system),
            competes=system.kind == System.Kind.PARTICIPANT,
        ),
        warnings=reveal_warnings(phase=phase, warnings=warnings),
        cost=reveal_cost(phase=phase, cost=costs.of(run.prediction)),
        released_at=at,
    )
    ReleaseSlice.objects.bulk_create(by_slice(release), batch_size=1000)
    stands = boards.stand(board=board, system=system, release=release)
    if stands and system.kind == System.Kind.PARTICIPANT:
        rank_ranges.changed(board)
    return stands


def _best(phase: Phase, board: Leaderboard, primary: str, system: System) -> float | None:
    """What an answer of the system must beat, on a ladder."""
    if phase.disclosure != Phase.Disclosure.LADDER:
        return None
    return board_state.best_shown(board, primary, team=_scope(phase, system.team_id))


def stored_scores(run: Run, board: Leaderboard) -> Scores:
    """A run's scores as they were kept, in their order.

    An organisers' scorer counts no groups: those of the whole are the gold's, and its slices have no grid.
    """
    scores = list(run.scores.order_by("pk").values(*OF_A_SCORE))
    for score in scores:
        if score["n_groups"] is None and not score["slice"] and not board.phase.half:
            score["n_groups"] = board.gold_version.n_groups
    return scores


def _on(board: Leaderboard) -> Any:
    return Run.objects.filter(
        prediction__submission__phase=board.phase_id,
        gold_version=board.gold_version_id,
        task_version=board.task_version,
    )


def _scope(phase: Phase, team: int) -> int | None:
    """Whose answers a ladder of the phase looks at together: a team's, or everybody's (None)."""
    return team if phase.scope == Phase.Scope.TEAM else None


def _first_open(board: Leaderboard) -> dict[int | None, int]:
    """By scope the first arrival that is not scored yet.

    A board in preparation waits for what failed too, until its organisers have had it scored again; on the one that is
    shown a failure is the end, and refunded.
    """
    if board.state == Leaderboard.State.PREPARING:
        open_ones = board_state.unscored(board)
    else:
        live = _on(board).filter(state__in=(State.QUEUED, State.RUNNING))
        open_ones = Prediction.objects.filter(pk__in=live.values("prediction"))
    found: dict[int | None, int] = {}
    for team, arrival in open_ones.values_list("submission__system__team", "arrival"):
        scope = _scope(board.phase, team)
        found[scope] = min(found.get(scope, arrival or 0), arrival or 0)
    return found
