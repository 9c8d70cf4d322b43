"""Changes to leaderboards: creation, standings, ranks, and the replacement of the current board by the next one."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, models
from django.db.models import F, Window
from django.db.models.functions import Rank

from leaderboard.boards.actions import past_standings
from leaderboard.boards.queries import as_of, board_state
from leaderboard.boards.queries.representative import ShownRun, represented
from leaderboard.core import db_clock
from leaderboard.models import (
    GoldVersion,
    Leaderboard,
    Phase,
    RankChange,
    Release,
    Run,
    Standing,
    System,
)

_STANDING = ("release__submission__system",)
_LARGE = ("release__values", "release__warnings", "release__cost")
NO_RANK = {"rank": None, "rank_low": None, "rank_high": None}


def of_run(*, phase: Phase, run: Run) -> Leaderboard:
    """Return the phase's board for the gold version and task version of a run; create it if it does not exist."""
    return get_or_create(phase=phase, gold_id=run.gold_version_id, task_version=run.task_version)


def get_or_create(*, phase: Phase, gold_id: int, task_version: int) -> Leaderboard:
    """Return a phase's board for a gold version and a task version; create it if it does not exist.

    A new board is current if the phase has no current board, in preparation if its versions are later than those of
    the current board, and frozen if they are earlier. The gold version is compared first, then the task version.
    """
    for board in phase.leaderboards.filter(gold_version=gold_id, task_version=task_version):
        return board
    shown = board_state.current(phase)
    gold = GoldVersion.objects.get(pk=gold_id)
    if shown is None:
        state = Leaderboard.State.CURRENT
    elif (gold.number, task_version) > (shown.gold_version.number, shown.task_version):
        state = Leaderboard.State.PREPARING
    else:
        # The run began before the gold was corrected and ended after: the old gold's board must not become current.
        state = Leaderboard.State.FROZEN
    shown_from = db_clock.now() if state == Leaderboard.State.CURRENT else None
    board, _ = Leaderboard.objects.get_or_create(
        phase=phase,
        gold_version_id=gold_id,
        task_version=task_version,
        defaults={"state": state, "shown_from": shown_from},
    )
    return board


def publish_if_complete(phase: Phase) -> bool:
    """Make the board in preparation current if all predictions that it waits for have been scored or rejected.

    Return True if the board became current. The previous board is then frozen, other boards in preparation are
    cancelled, and the rank changes are stored. Call in a transaction that holds a lock on the phase's row.
    """
    board = board_state.preparing(phase)
    if board is None or board_state.unscored(board).exists():
        return False
    replaced, others = board_state.current(phase), phase.leaderboards.exclude(pk=board.pk)
    others.filter(state=Leaderboard.State.PREPARING).update(state=Leaderboard.State.CANCELLED)
    others.filter(state=Leaderboard.State.CURRENT).update(state=Leaderboard.State.FROZEN)
    Leaderboard.objects.filter(pk=board.pk).update(state=Leaderboard.State.CURRENT, shown_from=db_clock.now())
    revise(phase.leaderboards.all())
    if replaced is not None:
        record_rank_changes(replaced=replaced, board=board, measure=board_state.primary_of(board))
    return True


def revise(changed: models.QuerySet[Leaderboard]) -> None:
    """Increment the revision of each changed board, which invalidates its ETags and cached responses."""
    changed.update(revision=F("revision") + 1)


def record_rank_changes(*, replaced: Leaderboard, board: Leaderboard, measure: str) -> int:
    """Store each system's rank and value on the replaced board and on its successor; return the number of stored rows.

    Later submissions change the ranks. A system may be on only one of the two boards. measure: name of the measure that
    ranks `board`. Call with the phase's row locked.
    """
    before, after = _standings(replaced), _standings(board)
    rank_changes = []
    for system in dict.fromkeys([*after, *before]):
        old, new = before.get(system), after.get(system)
        rank_changes.append(
            RankChange(
                leaderboard=board,
                replaced=replaced,
                system_id=system,
                measure=measure,
                rank_before=old.rank if old else None,
                value_before=old.value if old else None,
                rank=new.rank if new else None,
                value=new.value if new else None,
            )
        )
    RankChange.objects.bulk_create(rank_changes, batch_size=500)
    return len(rank_changes)


def _standings(board: Leaderboard) -> dict[int, Standing]:
    return {row.system_id: row for row in board.standings.order_by("rank", "pk")}


def update_standings(board: Leaderboard, releases: Sequence[Release]) -> set[str]:
    """Store which release represents each of the systems of new releases on a board.

    For each system this is the release of the submission that its team chose; without a choice, the best of the stored
    and the new releases. Idempotent: releases that were considered before change nothing.
    releases: releases on this board whose submissions are not hidden, with submission and system loaded. Returns the
    kinds (`System.Kind`) of the systems whose standings have changed. Call with the phase's row locked, and call `rank`
    afterwards unless the returned set is empty.
    """
    systems = {release.submission.system_id for release in releases}
    present = board.standings.filter(system__in=systems).select_related(*_STANDING).defer(*_LARGE)
    standings = {row.system_id: row for row in present}
    chosen, out = as_of.decided_now(board, systems)
    candidates = [ShownRun.of(row.release, row.value) for row in standings.values()]
    candidates += [ShownRun.of(release, board_state.primary_value(release)) for release in releases]
    sign = board_state.direction(board, releases[0].primary) if releases else 1
    best = represented(candidates, chosen=chosen, sign=sign)
    created, changed = [], []
    for system, run in best.items():
        standing = standings.get(system)
        if standing is None:
            standing = Standing(leaderboard=board, system_id=system, disqualified=out.get(system, ""))
            created.append(standing)
        elif standing.release_id != run.release:
            changed.append(standing)
        else:
            continue
        standing.release_id, standing.value, standing.received_at = run.release, run.value, run.received_at
        if run.value is None:
            # `rank` leaves such standings out.
            standing.rank = standing.rank_low = standing.rank_high = None
    Standing.objects.bulk_create(created)
    Standing.objects.bulk_update(changed, ["release", "value", "received_at", *NO_RANK], batch_size=500)
    return {best[standing.system_id].kind for standing in (*created, *changed)}


def recompute_standing(board: Leaderboard, system: System) -> bool:
    """Choose again which release represents a system on a board; delete its standing if no release remains to be shown.

    Releases of hidden submissions do not count. Return True if the standing was created, changed or deleted. The caller
    holds a lock on the phase's row, and calls `rank` afterwards.
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
    shown = {"release": releases[best.release], "value": best.value, "received_at": best.received_at}
    # Clear the ranks: a standing without a value must not have any, and `rank` ranks all standings with a value.
    board.standings.update_or_create(
        system=system,
        defaults={**shown, **NO_RANK},
        create_defaults={**shown, "disqualified": out.get(system.pk, "")},
    )
    return True


def rank(board: Leaderboard) -> None:
    """Rank a board's competing systems by the value of the primary measure; equal values share a rank (1, 1, 3).

    The board's revision is incremented, and its past standings are brought up to date. One SQL statement updates the
    ranks, and only those that change.
    """
    revise(Leaderboard.objects.filter(pk=board.pk))
    past_standings.catch_up(board)
    competing = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, disqualified="")
    primary = competing.values_list("release__primary", flat=True).first()
    if primary is None:
        return
    better_first = F("value").desc() if board_state.direction(board, primary) > 0 else F("value").asc()
    ranked = competing.order_by().values("id").annotate(new_rank=Window(Rank(), order_by=better_first))
    query, params = ranked.query.sql_with_params()
    table = connection.ops.quote_name(Standing._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET rank = ranked.new_rank FROM ({query}) ranked"  # noqa: S608  (no text of a user)
            f" WHERE {table}.id = ranked.id AND ({table}.rank IS NULL OR {table}.rank <> ranked.new_rank)",
            params,
        )
