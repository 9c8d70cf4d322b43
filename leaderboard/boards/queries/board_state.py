"""The state of a phase's leaderboards: which one is shown, what it still waits for, and what was shown on it."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import models
from django.db.models import FloatField, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, NullIf

from leaderboard.boards.disclosure.ladder import Bounded
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import (
    GoldVersion,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Representative,
    Run,
    State,
    System,
)


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


def releases_of(board: Leaderboard) -> models.QuerySet[Release]:
    """Return what was revealed on a board's gold and task version, in sequence."""
    return Release.objects.filter(
        phase=board.phase_id, run__gold_version=board.gold_version_id, run__task_version=board.task_version
    ).order_by("sequence")


def shown_releases(board: Leaderboard) -> models.QuerySet[Release]:
    """Return the releases that a board is made of, in sequence: without those of hidden submissions."""
    hidden = HiddenSubmission.objects.now().filter(submission__phase=board.phase_id)
    return releases_of(board).exclude(submission__in=hidden.values("submission")).select_related("submission__system")


def chosen_of(phase_id: int, system: System) -> UUID | None:
    """The submission that its team chose to represent a system in a phase; None: its best does."""
    chosen = Representative.objects.filter(phase=phase_id, system=system)
    return chosen.values_list("submission", flat=True).first()


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
    return scorer_of_phase.of_board(board).primary(board.gold_version)


def measures_of(board: Leaderboard) -> Callable[[str], Bounded]:
    """The measure of a name, for the names that the board's runs report."""
    return scorer_of_phase.of_board(board).measure


def direction(board: Leaderboard, measure: str) -> int:
    """+1 where more is better, -1 where less is."""
    return -1 if scorer_of_phase.of_board(board).measure(measure).higher_is_better is False else 1
