"""Leaderboards: which one a run belongs to, who stands where on it, and when it becomes the one that is shown."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import models
from django.db.models import F, FloatField, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, NullIf
from django.utils import timezone

from leaderboard import scoring
from leaderboard.actions import moves
from leaderboard.ladder import Bounded
from leaderboard.models import (
    Disqualification,
    GoldVersion,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Representative,
    Run,
    Standing,
    State,
    System,
)


def of_run(*, phase: Phase, run: Run) -> Leaderboard:
    """The board of the run's gold and task version; a phase's first is current, one of later gold is prepared."""
    return opened(phase=phase, gold_id=run.gold_version_id, task_version=run.task_version)


def opened(*, phase: Phase, gold_id: int, task_version: int) -> Leaderboard:
    """The board of a gold and a task version; opened, in the state that it deserves, if there is none."""
    shown = current(phase)
    gold = GoldVersion.objects.get(pk=gold_id)
    if shown is None:
        state = Leaderboard.State.CURRENT
    elif (gold.number, task_version) > (shown.gold_version.number, shown.task_version):
        state = Leaderboard.State.PREPARING
    else:
        # A run that was taken before the gold was corrected and ends after: it must not bring the old gold back.
        state = Leaderboard.State.FROZEN
    shown_from = timezone.now() if state == Leaderboard.State.CURRENT else None
    board, _ = Leaderboard.objects.get_or_create(
        phase=phase,
        gold_version_id=gold_id,
        task_version=task_version,
        defaults={"state": state, "shown_from": shown_from},
    )
    return board


def current(phase: Phase) -> Leaderboard | None:
    """The board that is shown; None before a first run has ended."""
    return phase.leaderboards.filter(state=Leaderboard.State.CURRENT).select_related("gold_version").first()


def preparing(phase: Phase) -> Leaderboard | None:
    """The board that will be shown next; of several the newest, which the others make way for."""
    waiting = phase.leaderboards.filter(state=Leaderboard.State.PREPARING).select_related("gold_version")
    return waiting.order_by("-gold_version__number", "-task_version").first()


def gold_of(phase: Phase) -> GoldVersion | None:
    """The gold that counts in a phase: its split's newest, without corrections whose scoring was cancelled here."""
    versions = phase.split.gold_versions.order_by("-number")
    shown = current(phase)
    if shown is None:
        return versions.first()
    later = phase.leaderboards.filter(gold_version__number__gt=shown.gold_version.number)
    kept = later.exclude(state=Leaderboard.State.CANCELLED)
    dropped = later.exclude(gold_version__in=kept.values("gold_version"))
    return versions.exclude(pk__in=dropped.values("gold_version")).first()


def settle(phase: Phase) -> bool:
    """Make the board in preparation current once every prediction of the phase has its run there; whether it did.

    The caller holds the phase's row. The board that was current is frozen in the same transaction, and what moved is
    kept.
    """
    board = preparing(phase)
    if board is None or unscored(board).exists():
        return False
    replaced, others = current(phase), phase.leaderboards.exclude(pk=board.pk)
    others.filter(state=Leaderboard.State.PREPARING).update(state=Leaderboard.State.CANCELLED)
    others.filter(state=Leaderboard.State.CURRENT).update(state=Leaderboard.State.FROZEN)
    Leaderboard.objects.filter(pk=board.pk).update(state=Leaderboard.State.CURRENT, shown_from=timezone.now())
    revise(phase.leaderboards.all())
    if replaced is not None:
        moves.record(replaced=replaced, board=board, measure=primary_of(board))
    return True


def revise(changed: models.QuerySet[Leaderboard]) -> None:
    """Whatever boards show has changed: answers that others keep are asked for anew."""
    changed.update(revision=F("revision") + 1)


def unscored(board: Leaderboard) -> models.QuerySet[Prediction]:
    """The phase's predictions that this board still waits for: neither scored nor rejected on its gold."""
    ended = Run.objects.filter(
        gold_version=board.gold_version_id, task_version=board.task_version, state__in=(State.DONE, State.REJECTED)
    )
    return to_score(board.phase).exclude(pk__in=ended.values("prediction"))


def to_score(phase: Phase) -> models.QuerySet[Prediction]:
    """The predictions that the phase's boards hold: all that are there; of a sealed phase the finals, once opened."""
    there = Prediction.objects.filter(submission__phase=phase, state=State.DONE)
    if phase.disclosure != Phase.Disclosure.SEALED:
        return there
    return there.none() if phase.is_sealed else there.filter(submission__final__isnull=False)


def primary_value(release: Release) -> float | None:
    """The primary measure of the whole, as revealed."""
    for score in release.values:
        if score["measure"] == release.primary and not score["slice"]:
            value = score["value"]
            return None if value is None else float(value)
    return None


def stand(*, board: Leaderboard, system: System, release: Release) -> bool:
    """The release of the submission that the team chose represents the system, without one its best; of equals the
    one whose submission came first. True: this one."""
    value = primary_value(release)
    out = Disqualification.objects.filter(phase=board.phase_id, system=system).values_list("reason", flat=True).first()
    standing, created = Standing.objects.get_or_create(
        leaderboard=board, system=system, defaults={"release": release, "value": value, "disqualified": out or ""}
    )
    sign = direction(board, release.primary)
    better = value is not None and (standing.value is None or sign * value > sign * standing.value)
    if not created and value is not None and value == standing.value:
        # Workers end in any order: a rescoring must not let another submission represent the system.
        better = release.submission.received_at < standing.release.submission.received_at
    if not created and (chosen := chosen_of(board.phase_id, system)) is not None:
        here, there = release.submission_id == chosen, standing.release.submission_id == chosen
        better = here or (better and not there)
    if not created and better:
        standing.release, standing.value = release, value
        standing.save(update_fields=["release", "value"])
    return created or better


def chosen_of(phase_id: int, system: System) -> UUID | None:
    """The submission that its team chose to represent a system in a phase; None: its best does."""
    chosen = Representative.objects.filter(phase=phase_id, system=system)
    return chosen.values_list("submission", flat=True).first()


def stand_again(board: Leaderboard, system: System) -> None:
    """Choose a system's release on a board anew from all that it has there. The caller holds the phase's row."""
    there = Release.objects.filter(
        phase=board.phase_id,
        submission__system=system,
        run__gold_version=board.gold_version_id,
        run__task_version=board.task_version,
    )
    releases = list(there.select_related("submission").order_by("sequence"))
    first = next(iter(releases), None)
    if first is None or not board.standings.filter(system=system).exists():
        return
    board.standings.filter(system=system).update(release=first, value=primary_value(first))
    for release in releases[1:]:
        stand(board=board, system=system, release=release)


def best_shown(board: Leaderboard, primary: str, *, team: int | None) -> float | None:
    """The best value of the primary measure that was told of a team's competing systems; team None: of all. One row is
    read, however many releases there are.

    Of disqualified ones too, and of what a team did not choose to stand for its system: what was told stays told.
    """
    telling = ReleaseSlice.objects.filter(
        slice_key="",
        release__phase=board.phase_id,
        release__primary=primary,
        release__run__gold_version=board.gold_version_id,
        release__run__task_version=board.task_version,
        release__submission__system__kind=System.Kind.PARTICIPANT,
    )
    if team is not None:
        telling = telling.filter(release__submission__system__team=team)
    # SQLite writes JSON's null out as a word.
    text = NullIf(KeyTextTransform("0", KeyTransform(primary, "cells")), Value("null"))
    valued = telling.annotate(told=Cast(text, FloatField())).exclude(told=None)
    best = valued.order_by("-told" if direction(board, primary) > 0 else "told").values_list("cells", flat=True).first()
    # From the stored digits: a database reads them in a way of its own.
    return None if best is None else float(best[primary][0])


def primary_of(board: Leaderboard) -> str:
    """The name of the measure that ranks a board."""
    return scoring.of_board(board).primary(board.gold_version)


def measures_of(board: Leaderboard) -> Callable[[str], Bounded]:
    """The measure of a name, for the names that the board's runs report."""
    return scoring.of_board(board).measure


def direction(board: Leaderboard, measure: str) -> int:
    """+1 where more is better, -1 where less is."""
    return -1 if scoring.of_board(board).measure(measure).higher_is_better is False else 1


def rank(board: Leaderboard) -> None:
    """Ranks of the competing systems; equal values share a rank, whatever the order they came in."""
    revise(Leaderboard.objects.filter(pk=board.pk))
    competing = board.standings.filter(system__kind=System.Kind.PARTICIPANT, value__isnull=False, disqualified="")
    valued = [
        (standing.value, standing) for standing in competing.select_related("release") if standing.value is not None
    ]
    if not valued:
        return
    sign = direction(board, valued[0][1].release.primary)
    valued.sort(key=lambda pair: (-sign * pair[0], pair[1].pk))
    changed, place, previous = [], 0, None
    for position, (value, standing) in enumerate(valued, start=1):
        if value != previous:
            place, previous = position, value
        if standing.rank != place:
            standing.rank = place
            changed.append(standing)
    Standing.objects.bulk_update(changed, ["rank"])
