"""What a phase may reveal of a score."""

from __future__ import annotations

from typing import Any

from leaderboard.models import Phase

Scores = list[dict[str, Any]]


def reveals_comparisons(phase: Phase) -> bool:
    """Whether a phase may tell how sure a difference is: intervals, p-values and rank ranges are answers too."""
    return phase.disclosure == Phase.Disclosure.FULL


def reveal(*, phase: Phase, scores: Scores) -> Scores:
    """The part of a run's scores that the phase's policy lets out, as it lets it out."""
    match phase.disclosure:
        case Phase.Disclosure.FULL:
            return scores
        case other:
            raise ValueError(f"phase {phase.pk} has the unknown disclosure policy {other!r}")
