"""Publication of runs as releases: the scores that the phase's disclosure policy reveals, numbered in sequence.

A release is stored in the transaction that stores its run's scores (`publish`). Boards include the release right
afterwards (`update_boards`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from evaluator.disclosure.ladder import PUBLISHED, Scores
from evaluator.disclosure.policy import Kind, Policy
from evaluator.scoring.score import Score
from leaderboard.boards.actions import boards
from leaderboard.boards.disclosure import costs
from leaderboard.boards.disclosure.policies import policy_of, reveal, reveal_cost, reveal_warnings
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.ladder_bounds import groups_of
from leaderboard.boards.queries.slices import dimensions_key, slice_key, slice_of
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.core import db_clock, db_locks, process_metrics, row_locks, tracing
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import (
    ACTIVE,
    GoldVersion,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Run,
    Standing,
    State,
    System,
)

AT_ONCE = 1000
"""Maximum number of releases that are ranked in one transaction."""
TO_RANK = (
    *("sequence", "primary", "values", "run__gold_version", "run__task_version"),
    *("submission__received_at", "submission__system__kind"),
)
"""Columns of a release and its related rows that ranking reads; the others are large."""
SYSTEMS_A_SECOND = 50_000
"""Size of a board for which one ranking waits a second for the next releases; see `_pause`."""
LEAST_PAUSE, LONGEST_PAUSE = 0.02, 2.0
OF_A_SCORE = ("measure", "slice", "value", "low", "high", "n", "n_groups")


def by_slice(release: Release) -> list[ReleaseSlice]:
    """Return one unsaved ReleaseSlice per slice, with the release's scores on the slice. Boards are sorted by them."""
    rows_by_key: dict[str, ReleaseSlice] = {}
    for score in release.values:
        slice_ = slice_of(score["slice"])
        key = slice_key(slice_)
        row = rows_by_key.setdefault(
            key, ReleaseSlice(release=release, slice_key=key, dimensions=dimensions_key(slice_), scores={})
        )
        row.scores[score["measure"]] = [score[name] for name in ("value", "low", "high", "n")]
    return list(rows_by_key.values())


def publish(*, phase: Phase, run: Run, primary: str, scores: Scores, warnings: list[str], at: Any) -> Release | None:
    """Release a run as its phase's disclosure policy says. The board includes the release after `update_boards`.

    Returns None if the run must wait: on a ladder, runs are released in the order in which their predictions arrived,
    so this one is released after those of earlier predictions. Call in the transaction that stores the run's scores.
    phase: from `row_locks.lock_phase` in this transaction, so that the sequence of releases has no gaps. primary: name
    of the measure by which systems are ranked. scores, warnings: all of the run, before the policy is applied; each
    score has `n_groups`, unless a custom scorer computed it. at: time of the release, by `db_clock.now`.
    """
    board = boards.of_run(phase=phase, run=run)
    known = run.prediction.submission.phase
    phase.split, phase.benchmark = known.split, known.benchmark
    if phase.disclosure != Phase.Disclosure.LADDER:
        scores = _with_groups(scores, board, run.gold_version)
        return _release(phase, board, run, primary=primary, scores=scores, warnings=warnings, at=at)
    advance(board)
    return Release.objects.filter(run=run).first()


def update_boards(phase_id: int) -> None:
    """Rank the releases of a phase that its boards do not include yet. Call outside of a transaction, after a release.

    phase_id: the phase's primary key. Does nothing if another process already ranks this phase: that process also
    includes the caller's releases, so one worker ranks for all workers that publish in the phase.
    """
    while True:
        with transaction.atomic():
            if not db_locks.try_lock(db_locks.RANKING, phase_id):
                return
            if connection.vendor == "postgresql":  # on SQLite, this transaction would make all others wait
                time.sleep(_pause(phase_id))
            with tracing.span("rank"), process_metrics.RANKING_SECONDS.time():
                _update_boards(row_locks.lock_phase(phase_id))
        if not _unranked(phase_id).exists():
            return


def _pause(phase_id: int) -> float:
    """Return the seconds to wait for further releases before ranking, in proportion to the size of the phase's boards.

    Ranking takes time in proportion to the board, and meanwhile no run of the phase can be published. If other runs are
    being scored, a pause lets many releases share one ranking, and leaves most of the time to publication.
    """
    running = Run.objects.filter(state=State.RUNNING, prediction__submission__phase=phase_id)
    seconds = Standing.objects.filter(leaderboard__phase=phase_id).count() / SYSTEMS_A_SECOND
    return min(seconds, LONGEST_PAUSE) if seconds > LEAST_PAUSE and running.exists() else 0.0


def _unranked(phase_id: int) -> QuerySet[Release]:
    return Release.objects.filter(phase=phase_id, sequence__gt=F("phase__ranked_sequence"))


def _update_boards(phase: Phase) -> None:
    """Include up to AT_ONCE waiting releases in the phase's boards, and publish a board that is now complete.

    Call with the phase's row locked.
    """
    waiting = _unranked(phase.pk).select_related("run", "submission__system").only(*TO_RANK)
    hidden = HiddenSubmission.objects.now().filter(submission=OuterRef("submission"))
    rows = list(waiting.annotate(is_hidden=Exists(hidden)).order_by("sequence")[:AT_ONCE])
    of_board: dict[tuple[int, int], list[Any]] = {}
    for row in rows:
        if not row.is_hidden:
            of_board.setdefault((row.run.gold_version_id, row.run.task_version), []).append(row)
    leaderboards = list(phase.leaderboards.select_related("gold_version"))
    for board in leaderboards:
        if new := of_board.get((board.gold_version_id, board.task_version)):
            changed = boards.update_standings(board, new)
            if System.Kind.PARTICIPANT in changed:
                # Ranges are cleared first: a database constraint refuses a new rank outside of the old range.
                rank_ranges.invalidate(board)
            if changed:  # if no release has changed a standing, the board and its revision stay as they are
                boards.rank(board)
    if rows:
        Phase.objects.filter(pk=phase.pk).update(ranked_sequence=rows[-1].sequence)
    if len(rows) < AT_ONCE and any(board.state == Leaderboard.State.PREPARING for board in leaderboards):
        boards.publish_if_complete(phase)


def release_waiting(phase: Phase) -> None:
    """Release the runs of a ladder that waited for a run which has ended without scores, and update the boards.

    A board in preparation that is now complete is published. The caller holds a lock on the phase's row.
    """
    if phase.disclosure == Phase.Disclosure.LADDER:
        for board in phase.leaderboards.filter(state__in=Leaderboard.OPEN):
            advance(board)
    _update_boards(phase)


def advance(board: Leaderboard) -> int:
    """Release the scored runs on a ladder's board that need not wait any more; return the number of runs released.

    A run waits while an earlier prediction on the same ladder may still be scored, so runs are released in the order in
    which their predictions arrived. Workers finish in any order: if each run were released when it finishes, the
    revealed scores would depend on that order, and the board could not be reproduced. The caller holds a lock on the
    phase's row.
    """
    phase = board.phase
    first_open = _first_open(board)
    runs = _on(board).filter(state=State.DONE, release__isnull=True).select_related("prediction__submission__system")
    released = 0
    for run in runs.order_by("prediction__sequence", "queued_at", "pk"):
        earliest = first_open.get(scope(phase, run.prediction.submission.system.team_id))
        if earliest is not None and earliest < (run.prediction.sequence or 0):
            continue
        primary = board_state.primary_of(board)
        _release(
            phase,
            board,
            run,
            primary=primary,
            scores=stored_scores(run, board),
            warnings=run.warnings,
            at=db_clock.now(),
        )
        released += 1
    return released


def sweep() -> int:
    """Release the runs on ladders that no longer wait because an earlier run was cancelled; return their number.

    Also rank the releases of workers that were killed before they had ranked.
    """
    waiting = Run.objects.filter(
        state=State.DONE, release__isnull=True, prediction__submission__phase__disclosure=Phase.Disclosure.LADDER
    )
    released = 0
    for pk in list(waiting.order_by().values_list("prediction__submission__phase", flat=True).distinct()):
        with transaction.atomic():
            phase = row_locks.lock_phase(pk)
            released += sum(advance(board) for board in phase.leaderboards.filter(state__in=Leaderboard.OPEN))
            _update_boards(phase)
    last = Release.objects.filter(phase=OuterRef("pk")).order_by("-sequence").values("sequence")[:1]
    for pk in Phase.objects.filter(ranked_sequence__lt=Subquery(last)).values_list("pk", flat=True):
        update_boards(pk)
    return released


def _release(
    phase: Phase,
    board: Leaderboard,
    run: Run,
    *,
    primary: str,
    scores: Scores,
    warnings: list[str],
    at: Any,
) -> Release:
    """Create and return the release of a run on a board, with the next sequence number of the phase.

    The other arguments are as for `publish`.
    """
    submission = run.prediction.submission
    system, policy = submission.system, policy_of(phase)
    if not board.slice_groups and (policy.kind == Kind.LADDER or not policy.exact):
        board.slice_groups = groups_of(scores, policy)
        Leaderboard.objects.filter(pk=board.pk).update(slice_groups=board.slice_groups)
    competes = system.kind == System.Kind.PARTICIPANT
    ladder = scope(phase, system.team_id)
    n_earlier = _n_earlier(run, board, primary, ladder) if competes and policy.detailed_answers is not None else 0
    compares = competes and policy.compares_steps(policy.is_detailed(n_earlier))
    last_sequence = phase.releases.order_by("-sequence").values_list("sequence", flat=True).first() or 0
    release = Release.objects.create(
        phase=phase,
        sequence=last_sequence + 1,
        run=run,
        submission=submission,
        policy=phase.disclosure,
        primary=primary,
        values=reveal(
            phase=phase,
            scores=scores,
            primary=primary,
            measure_of=board_state.measures_of(board),
            best=_to_beat(board, policy, primary, ladder) if compares else None,
            n_earlier=n_earlier,
            competes=competes,
        ),
        warnings=reveal_warnings(phase=phase, warnings=warnings, of_scores=lambda: warnings_of(scores, board)),
        cost=reveal_cost(phase=phase, cost=costs.of(run.prediction)),
        released_at=at,
    )
    ReleaseSlice.objects.bulk_create(by_slice(release), batch_size=1000)
    return release


def _to_beat(board: Leaderboard, policy: Policy, primary: str, ladder: int | None) -> float | None:
    """Return the value that an answer must beat by a step to be shown; None: any value is shown.

    It is the best shown one of the participants on the ladder or, if better, that of the weakest baseline: otherwise a
    file without answers would be the first rung, and a ladder has many steps between it and the first useful system.
    Phases with exact scores compare with participants alone. ladder: as `scope` returns it.
    """
    best = board_state.best_shown(board, primary, team=ladder)
    if policy.exact:
        return best
    return better(best, board_state.weakest_baseline(board, primary), sign=board_state.direction(board, primary))


def better(a: float | None, b: float | None, *, sign: int) -> float | None:
    """Return the better of two values, either of which may be None. sign: 1 if higher is better, else -1."""
    return max((value for value in (a, b) if value is not None), key=lambda value: sign * value, default=None)


def _n_earlier(run: Run, board: Leaderboard, primary: str, ladder: int | None) -> int:
    """Return the number of answers before a run's that count as detailed answers of its team.

    On a ladder, these are the answers on it that showed scores, since others show next to nothing. In other phases they
    are the predictions that the team sent before, by their sequence numbers, so that the number is the same whenever
    the run is released. ladder: as `scope` returns it.
    """
    submission, sequence = run.prediction.submission, run.prediction.sequence or 0
    if submission.phase.disclosure == Phase.Disclosure.LADDER:
        return board_state.n_shown(board, primary, team=ladder)
    if submission.phase.disclosure == Phase.Disclosure.SEALED:
        # Only finals are answered.
        finals = Prediction.objects.filter(submission__final__phase=submission.phase_id, sequence__lt=sequence)
        return finals.filter(submission__system__team=submission.system.team_id).count()
    sent = Prediction.objects.filter(submission__phase=submission.phase_id, sequence__lt=sequence)
    return sent.filter(submission__system__team=submission.system.team_id).count()


def n_earlier_of(phase: Phase) -> dict[UUID, int]:
    """Return for each prediction of a phase, by primary key, how many its team had sent before; as `_n_earlier`.

    Not for a ladder.
    """
    sent: Counter[int] = Counter()
    earlier = {}
    rows = Prediction.objects.filter(submission__phase=phase, sequence__isnull=False).order_by("sequence")
    if phase.disclosure == Phase.Disclosure.SEALED:
        rows = rows.filter(submission__final__isnull=False)
    for prediction, team in rows.values_list("pk", "submission__system__team"):
        earlier[prediction] = sent[team]
        sent[team] += 1
    return earlier


def warnings_of(scores: Scores, board: Leaderboard) -> Collection[str]:
    """Return the warnings that the board's task makes from the scores of a run. A custom scorer makes none."""
    rows = [Score(**{name: score[name] for name in PUBLISHED}) for score in scores]
    return scorer_of_phase.of_board(board).task.score_warnings(rows)


def stored_scores(run: Run, board: Leaderboard) -> Scores:
    """Return a run's stored scores, in the order in which they were stored, with numbers of groups (`_with_groups`)."""
    return _with_groups(list(run.scores.order_by("pk").values(*OF_A_SCORE)), board, board.gold_version)


def _with_groups(scores: Scores, board: Leaderboard, gold: GoldVersion) -> Scores:
    """Return scores whose overall ones have the gold's number of groups, unless they have one.

    A custom scorer reports no numbers of groups, on which steps depend. If the phase scores only public or only private
    groups, the number remains unknown; scores on slices keep None.
    """
    whole = None if board.phase.subset else gold.n_groups
    return [
        {**score, "n_groups": whole} if score.get("n_groups") is None and not score["slice"] else score
        for score in scores
    ]


def _on(board: Leaderboard) -> Any:
    return Run.objects.filter(
        prediction__submission__phase=board.phase_id,
        gold_version=board.gold_version_id,
        task_version=board.task_version,
    )


def scope(phase: Phase, team: int) -> int | None:
    """Return the key of a team's ladder: `team`, its id, if each team has a ladder; None if all teams share one.

    In a phase that is no ladder, an answer that must be an improvement is compared with those of its team.
    """
    is_shared = phase.disclosure == Phase.Disclosure.LADDER and phase.scope == Phase.Scope.TASK
    return None if is_shared else team


def _first_open(board: Leaderboard) -> dict[int | None, int]:
    """Return ladder (a key from `scope`) -> lowest sequence number of the predictions whose runs the board waits for.

    The current board waits for queued and running runs, but not for failed ones, whose quota charge was refunded. A
    board in preparation also waits for failed runs, until organisers have the predictions scored again. Ladders on
    which no prediction is waited for have no key.
    """
    if board.state == Leaderboard.State.PREPARING:
        pending = board_state.unscored(board)
    else:
        live = _on(board).filter(state__in=ACTIVE)
        pending = Prediction.objects.filter(pk__in=live.values("prediction"))
    first: dict[int | None, int] = {}
    for team, sequence in pending.values_list("submission__system__team", "sequence"):
        key = scope(board.phase, team)
        first[key] = min(first.get(key, sequence or 0), sequence or 0)
    return first
