"""What a phase may reveal of a score. docs/adr/0012 says why so.

- `full`: all of it, at once.
- `ladder`: nothing, until the primary measure of the whole beats the best that was shown by a step; then every measure
  and slice on the grid of its own groups. No interval, p-value, rank range or warning: each is an answer too.
- `sealed`: nothing until the phase is opened; then the finals, in full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leaderboard.boards.disclosure import ladder
from leaderboard.boards.disclosure.costs import Cost
from leaderboard.models import Phase

Scores = list[dict[str, Any]]
"""{"measure", "slice", "value", "low", "high", "n"}, and for a ladder "n_groups"."""
MeasureOf = Callable[[str], ladder.Bounded]

PUBLISHED = ("measure", "slice", "value", "low", "high", "n")


def reveals_comparisons(phase: Phase) -> bool:
    """Whether a phase may tell how sure a difference is: intervals, p-values and rank ranges are answers too."""
    return phase.disclosure in (Phase.Disclosure.FULL, Phase.Disclosure.SEALED)


def reveals_all(phase: Phase) -> bool:
    """Whether whatever was scored is told as it is, as soon as it is there."""
    return phase.disclosure == Phase.Disclosure.FULL


def reveals_counts(phase: Phase) -> bool:
    """Whether a phase may tell of how many units one system is right and another wrong."""
    return reveals_all(phase)


def reveals_drawings(phase: Phase) -> bool:
    """Whether a phase may tell what is drawn beside scores: curves, grids of ranks, pair counts. Each is an answer, and
    has no grid that a ladder could move along."""
    return reveals_all(phase)


def reveals_items(phase: Phase) -> bool:
    """Whether the units themselves may be named: where everybody has the gold, and scores are told in full."""
    return reveals_all(phase) and phase.split.gold_public and phase.split.inputs_public


def lets_choose(phase: Phase) -> bool:
    """Whether a team may choose which of its submissions represents a system.

    A ladder holds every answer against the best that its board shows: who could lower that would be told more.
    """
    return phase.disclosure != Phase.Disclosure.LADDER


def reveal_cost(*, phase: Phase, cost: Cost) -> dict[str, float | None] | None:
    """What a phase lets out of a container's cost; None: nothing, or there was no container.

    A container sees no gold, so its cost answers nothing about it; the coarse steps are for the inputs.
    """
    _check_known(phase)
    return cost.as_dict() if cost.is_known else None


def reveal(
    *, phase: Phase, scores: Scores, primary: str, measure_of: MeasureOf, best: float | None, competes: bool = True
) -> Scores:
    """The part of a run's scores that the phase's policy lets out, as it lets it out; [] for nothing.

    measure_of: the measure of a name; best: of the primary measure, the best value shown in the ladder's scope, None
    before the first. What does not compete is shown on a ladder's grid whether it beats anything or not: baselines are
    given, no answers to questions.
    """
    match phase.disclosure:
        case Phase.Disclosure.FULL:
            return scores
        case Phase.Disclosure.SEALED:
            if phase.is_sealed:
                raise ValueError(f"phase {phase.pk} is sealed; nothing of it can be revealed")
            return scores
        case Phase.Disclosure.LADDER:
            on_grid = [_on_grid(score, measure_of(score["measure"])) for score in scores]
            reached = next((one["value"] for one in on_grid if one["measure"] == primary and not one["slice"]), None)
            if competes and not ladder.beats(reached, best, measure=measure_of(primary)):
                return []
            return [one for one in on_grid if one["value"] is not None]
    raise _unknown(phase)


def reveal_warnings(*, phase: Phase, warnings: list[str]) -> list[str]:
    """Warnings of a scoring may rest on gold (a median length beside gold's), so a ladder tells none."""
    return [] if phase.disclosure == Phase.Disclosure.LADDER else warnings


def _on_grid(score: dict[str, Any], measure: ladder.Bounded) -> dict[str, Any]:
    value = score["value"]
    told = None if value is None else ladder.shown(value, measure=measure, n_groups=score.get("n_groups"))
    return {**{name: score[name] for name in PUBLISHED}, "value": told, "low": None, "high": None}


def _check_known(phase: Phase) -> None:
    if phase.disclosure not in Phase.Disclosure.values:
        raise _unknown(phase)


def _unknown(phase: Phase) -> ValueError:
    return ValueError(f"phase {phase.pk} has the unknown disclosure policy {phase.disclosure!r}")
