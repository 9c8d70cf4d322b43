"""Bounds of the true scores behind the rounded scores of a ladder, computed from public numbers only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from evaluator.disclosure import ladder
from evaluator.disclosure.ladder import Bounds
from evaluator.disclosure.policy import Policy, shown_groups
from evaluator.measures.base import Difference, Measure, PublishedScore
from leaderboard.boards.queries.rows import Key, ShownScore, ShownScores
from leaderboard.boards.queries.slices import Slice, slice_key, slice_of
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Leaderboard, Phase, Release

Groups = dict[str, dict[str, int]]
"""{slice key: {measure: number of groups with units there}}, as stored with the board of a ladder."""


def groups_of(scores: ladder.Scores, policy: Policy) -> Groups:
    """Return the number of groups behind each score of a run, as {slice key: {measure: number}}.

    policy: of the phase; unless it is exact, the numbers are those that it may show. Scores without a known number are
    missing. All runs of a board have the same numbers.
    """
    groups: Groups = {}
    for score in scores:
        n_groups = score["n_groups"] if policy.exact else shown_groups(score)
        if n_groups:
            groups.setdefault(slice_key(slice_of(score["slice"])), {})[score["measure"]] = n_groups
    return groups


def with_bounds(board: Leaderboard, scores: Mapping[int, ShownScores]) -> Mapping[int, ShownScores]:
    """Return `scores` (by release id) with bounds if the board's phase is a ladder, else unchanged.

    `board` has its phase loaded.
    """
    if board.phase.disclosure != Phase.Disclosure.LADDER:
        return scores
    add = _bounder(board)
    return {release: add(shown) for release, shown in scores.items()}


def with_parts(board: Leaderboard, within: Collection[str] | None) -> Collection[str] | None:
    """Return the dimensions whose slices a board must read. within: those that are shown; None: all.

    On a ladder, these include the dimensions of the published scores from which a measure of the class `Difference` is
    computed, since the bounds of these scores narrow the bounds of the difference.
    """
    if within is None or board.phase.disclosure != Phase.Disclosure.LADDER:
        return within
    parts = (measure.published for measure in of_board(board).declared if isinstance(measure, Difference))
    return {*within, *(on[0] for published in parts if published for _, on in published)}


def scores_of_release(release: Release, board: Leaderboard | None = None) -> ShownScores:
    """Return all scores of a release, with their bounds on a ladder.

    board: the release's board; None: it is not loaded yet, and is read here. The release has its run and phase loaded.
    """
    scores = {(row["measure"], slice_of(row["slice"])): _shown(row) for row in release.values}
    if release.policy != Phase.Disclosure.LADDER:
        return scores
    if board is None:
        board = Leaderboard.objects.select_related("phase__benchmark", "phase__scorer").get(
            phase=release.phase_id,
            gold_version=release.run.gold_version_id,
            task_version=release.run.task_version,
        )
    return _bounder(board)(scores)


def as_fields(bounds: Bounds | None) -> dict[str, float | None]:
    """Return bounds as the API's fields `at_least` and `at_most`; {} without bounds."""
    return {} if bounds is None else {"at_least": bounds.at_least, "at_most": bounds.at_most}


def _shown(row: Mapping[str, Any]) -> ShownScore:
    return ShownScore(row["value"], row["low"], row["high"], row["n"])


def _bounder(board: Leaderboard) -> Callable[[ShownScores], ShownScores]:
    """Return a function that adds bounds to the scores of one release."""
    measures: dict[str, Measure] = {measure.name: measure for measure in of_board(board).declared}
    groups: Groups = board.slice_groups

    @cache
    def grid(key: Key) -> tuple[Measure, int | None]:
        name, slice_ = key
        return measures[name], groups.get(slice_key(slice_), {}).get(name)

    def own(key: Key, score: ShownScore) -> Bounds | None:
        if score.value is None:
            return None
        measure, n_groups = grid(key)
        return ladder.bounds(score.value, measure=measure, n_groups=n_groups)

    def add(scores: ShownScores) -> ShownScores:
        bounds = {key: own(key, score) for key, score in scores.items()}
        return {
            key: score._replace(bounds=_narrowed(grid(key)[0], key[1], bounds[key], bounds))
            for key, score in scores.items()
        }

    return add


def _narrowed(
    measure: Measure, slice_: Slice, own: Bounds | None, bounds: Mapping[Key, Bounds | None]
) -> Bounds | None:
    """Return the bounds of a score, narrowed if its measure is the difference of two published scores.

    own: the bounds that follow from the score's rounding; None: unknown, and None is returned. bounds: the bounds of
    all scores of the run; those of the two published scores also bound their difference.
    """
    if own is None or not isinstance(measure, Difference) or measure.published is None:
        return own
    a, b = (bounds.get(_on(part, slice_)) for part in measure.published)
    return own if a is None or b is None else own.within(a.less(b))


def _on(part: PublishedScore, slice_: Slice) -> Key:
    name, on = part
    return name, tuple(sorted({*slice_, on}))
