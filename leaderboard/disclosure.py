"""What a phase may reveal of a score."""

from __future__ import annotations

from typing import Any

from leaderboard.costs import Cost
from leaderboard.models import Phase

Scores = list[dict[str, Any]]


def reveals_comparisons(phase: Phase) -> bool:
    """Whether a phase may tell how sure a difference is: intervals, p-values and rank ranges are answers too."""
    return phase.disclosure == Phase.Disclosure.FULL


def reveal_cost(*, phase: Phase, cost: Cost) -> dict[str, float | None] | None:
    """What a phase lets out of a container's cost; None: nothing, or there was no container.

    A container sees no gold, so its cost answers nothing about it; the coarse steps are for the inputs.
    """
    match phase.disclosure:
        case Phase.Disclosure.FULL:
            return cost.as_dict() if cost.is_known else None
        case other:
            raise ValueError(f"phase {phase.pk} has the unknown disclosure policy {other!r}")


def reveal(*, phase: Phase, scores: Scores) -> Scores:
    """The part of a run's scores that the phase's policy lets out, as it lets it out."""
    match phase.disclosure:
        case Phase.Disclosure.FULL:
            return scores
        case other:
            raise ValueError(f"phase {phase.pk} has the unknown disclosure policy {other!r}")
