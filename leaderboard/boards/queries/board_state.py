"""Queries about a phase's leaderboards: which is current or in preparation, what it waits for, and its releases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.db import models
from django.db.models import Exists, FloatField, OuterRef, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, NullIf

from evaluator.disclosure.rounding import Bounded
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import (
    GoldVersion,
    HiddenSubmission,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Run,
    State,
    System,
)


def current(phase: Phase) -> Leaderboard | None:
    """Return the phase's current board; None before the first run has finished."""
    return phase.leaderboards.filter(state=Leaderboard.State.CURRENT).select_related("gold_version").first()


def preparing(phase: Phase) -> Leaderboard | None:
    """Return the phase's board in preparation; of several, the one of the latest version; None if there is none."""
    waiting = phase.leaderboards.filter(state=Leaderboard.State.PREPARING).select_related("gold_version")
    return waiting.order_by("-gold_version__number", "-task_version").first()


def gold_of(phase: Phase) -> GoldVersion | None:
    """Return the gold version that a phase uses; None if its split has no gold.

    It is the latest gold version of the split, ignoring those whose rescoring in this phase was cancelled.
    """
    versions = phase.split.gold_versions.order_by("-number")
    of_current = phase.leaderboards.filter(state=Leaderboard.State.CURRENT, gold_version=OuterRef("pk"))
    latest = versions.annotate(is_shown=Exists(of_current)).first()
    if latest is None or latest.is_shown:
        return latest
    shown = current(phase)
    if shown is None:
        return versions.first()
    later = phase.leaderboards.filter(gold_version__number__gt=shown.gold_version.number)
    active = later.exclude(state=Leaderboard.State.CANCELLED)
    cancelled = later.exclude(gold_version__in=active.values("gold_version"))
    return versions.exclude(pk__in=cancelled.values("gold_version")).first()


def unscored(board: Leaderboard) -> models.QuerySet[Prediction]:
    """Return the predictions that a board waits for.

    These are those that no run with the board's gold version and task version has scored or rejected.
    """
    finished = Run.objects.filter(
        gold_version=board.gold_version_id, task_version=board.task_version, state__in=(State.DONE, State.REJECTED)
    )
    return predictions_to_score(board.phase).exclude(pk__in=finished.values("prediction"))


def predictions_to_score(phase: Phase) -> models.QuerySet[Prediction]:
    """Return the predictions that the phase scores: all that are ready.

    A sealed phase scores none until it is opened, and then those of final submissions only.
    """
    ready = Prediction.objects.filter(submission__phase=phase, state=State.DONE)
    if phase.disclosure != Phase.Disclosure.SEALED:
        return ready
    return ready.none() if phase.is_sealed else ready.filter(submission__final__isnull=False)


def primary_value(release: Release) -> float | None:
    """Return the revealed overall value of a release's primary measure; None if there is no such value."""
    for score in release.values:
        if score["measure"] == release.primary and not score["slice"]:
            value = score["value"]
            return None if value is None else float(value)
    return None


def releases_of(board: Leaderboard) -> models.QuerySet[Release]:
    """Return the releases of a board's phase that have its gold and task version, ordered by sequence number.

    Releases of hidden submissions are included.
    """
    return Release.objects.filter(
        phase=board.phase_id, run__gold_version=board.gold_version_id, run__task_version=board.task_version
    ).order_by("sequence")


def shown_releases(board: Leaderboard) -> models.QuerySet[Release]:
    """Return a board's releases, ordered by sequence number, without those of hidden submissions."""
    hidden = HiddenSubmission.objects.now().filter(submission__phase=board.phase_id)
    return releases_of(board).exclude(submission__in=hidden.values("submission")).select_related("submission__system")


def best_shown(board: Leaderboard, primary: str, *, team: int | None) -> float | None:
    """Return the best overall primary value that a board has revealed for participants; None if there is none.

    team: id of the team whose systems count; None: the systems of all teams count.
    Disqualified systems count, and so do releases that do not represent their system: a revealed score cannot be taken
    back. The database returns one row, however many releases there are.
    """
    return _first(_shown_to_participants(board, primary, team), primary, descending=direction(board, primary) > 0)


def weakest_baseline(board: Leaderboard, primary: str) -> float | None:
    """Return the worst overall primary value that a board has revealed for systems that do not compete, or None."""
    baselines = _shown(board, primary).exclude(release__submission__system__kind=System.Kind.PARTICIPANT)
    return _first(baselines, primary, descending=direction(board, primary) < 0)


def n_shown(board: Leaderboard, primary: str, *, team: int | None) -> int:
    """Return how many answers of participants a board has revealed an overall primary value of.

    team: id of the team whose answers count; None: those of all teams.
    """
    return _shown_to_participants(board, primary, team).count()


def _shown_to_participants(board: Leaderboard, primary: str, team: int | None) -> models.QuerySet[ReleaseSlice]:
    slices = _shown(board, primary).filter(release__submission__system__kind=System.Kind.PARTICIPANT)
    return slices if team is None else slices.filter(release__submission__system__team=team)


def _shown(board: Leaderboard, primary: str) -> models.QuerySet[ReleaseSlice]:
    """Return the overall scores that a board has revealed; `shown_value` is the value of the primary measure."""
    slices = ReleaseSlice.objects.filter(
        slice_key="",
        release__phase=board.phase_id,
        release__primary=primary,
        release__run__gold_version=board.gold_version_id,
        release__run__task_version=board.task_version,
    )
    # SQLite returns JSON null as the text "null".
    text = NullIf(KeyTextTransform("0", KeyTransform(primary, "scores")), Value("null"))
    return slices.annotate(shown_value=Cast(text, FloatField())).exclude(shown_value=None)


def _first(shown: models.QuerySet[ReleaseSlice], primary: str, *, descending: bool) -> float | None:
    """Return the largest (`descending`) or smallest value of the primary measure in `_shown`; None: there is none."""
    ordered = shown.order_by("-shown_value" if descending else "shown_value")
    scores = ordered.values_list("scores", flat=True).first()
    # Parsed from the stored JSON: databases differ in how they convert digits.
    return None if scores is None else float(scores[primary][0])


def primary_of(board: Leaderboard) -> str:
    """Return the name of the measure that ranks a board."""
    return scorer_of_phase.of_board(board).primary(board.gold_version)


def measures_of(board: Leaderboard) -> Callable[[str], Bounded]:
    """Return a function from a measure's name to the measure, for all measures of the board's scorer."""
    # On public gold and in phases with exact scores it is never called, so the scorer is read at the first call.
    scorer = cache(lambda: scorer_of_phase.of_board(board))
    return lambda name: scorer().measure(name)


def direction(board: Leaderboard, measure: str) -> int:
    """Return -1 if lower values of the measure are better, else +1."""
    return -1 if scorer_of_phase.of_board(board).measure(measure).higher_is_better is False else 1
