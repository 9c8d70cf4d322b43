"""What a phase shows: its disclosure policy (`evaluator.disclosure.policy`), applied to scores and all that follows.

Every number that is computed from hidden gold passes through this module before it is stored for readers or shown to
them (`tests/test_architecture.py`). Only organisers see the exact values.
"""

from __future__ import annotations

from evaluator.disclosure import policy
from evaluator.disclosure.ladder import MeasureOf, Scores
from evaluator.disclosure.policy import Afterwards, Kind, Policy
from leaderboard.boards.disclosure.costs import Cost
from leaderboard.models import Phase


def policy_of(phase: Phase) -> Policy:
    """Return the disclosure policy of a phase; `phase` has its split loaded. On public gold, all is exact.

    Raises ValueError for an unknown policy.
    """
    _check_known(phase)
    kind = Kind(phase.disclosure)
    if phase.split.gold_public:
        return Policy(kind, exact=True)
    return Policy(
        kind,
        exact=phase.exact_scores,
        least_groups=phase.least_groups,
        detailed_answers=phase.detailed_answers,
        afterwards=Afterwards(phase.afterwards),
    )


def reveals_comparisons(phase: Phase) -> bool:
    """Return True if the phase may show intervals, p-values and rank ranges.

    They reveal more about the gold than the scores alone, so a ladder never shows them.
    """
    return phase.disclosure in (Phase.Disclosure.FULL, Phase.Disclosure.SEALED)


def reveals_all(phase: Phase) -> bool:
    """Return True if scores are revealed in full as soon as they exist."""
    return phase.disclosure == Phase.Disclosure.FULL


def reveals_counts(phase: Phase) -> bool:
    """Return True if the phase may show on how many units one system is right and another wrong."""
    return reveals_all(phase)


def reveals_plots(phase: Phase) -> bool:
    """Return True if the phase may show plot data: ROC curves, rank histograms, counts of contrast pairs.

    Each reveals information about the gold, and none can be rounded to the grid of a ladder.
    """
    return reveals_all(phase)


def reveals_items(phase: Phase) -> bool:
    """Return True if single gold units may be shown: scores are revealed in full, and gold and inputs are public."""
    return reveals_all(phase) and phase.split.gold_public and phase.split.inputs_public


def lets_choose(phase: Phase) -> bool:
    """Return True if a team may choose which of its submissions represents a system.

    On a ladder a team may not: by choosing a worse submission it would lower the best shown value, which each new score
    has to beat, and so be shown more scores.
    """
    return phase.disclosure != Phase.Disclosure.LADDER


def reveal_cost(*, phase: Phase, cost: Cost) -> dict[str, float | None] | None:
    """Return a container's cost as published, or None if it is unknown. Raises ValueError for an unknown policy.

    A container sees no gold, so its cost leaks nothing about it; the coarse steps protect the inputs.
    """
    _check_known(phase)
    return cost.as_dict() if cost.is_known else None


def reveal(
    *,
    phase: Phase,
    scores: Scores,
    primary: str,
    measure_of: MeasureOf,
    best: float | None,
    n_earlier: int = 0,
    competes: bool = True,
) -> Scores:
    """Return a run's scores as the phase's disclosure policy reveals them; [] if it reveals none.

    The arguments are those of `evaluator.disclosure.policy.reveal`. Raises ValueError if the phase is still sealed or
    has an unknown policy.
    """
    if phase.is_sealed:
        raise ValueError(f"phase {phase.pk} is sealed; none of its scores can be released")
    return policy.reveal(
        policy_of(phase),
        scores,
        primary=primary,
        measure_of=measure_of,
        best=best,
        n_earlier=n_earlier,
        competes=competes,
    )


def reveal_warnings(*, phase: Phase, warnings: list[str]) -> list[str]:
    """Return the warnings to show; none on a ladder, because a warning can reveal facts about the gold."""
    return [] if phase.disclosure == Phase.Disclosure.LADDER else warnings


def _check_known(phase: Phase) -> None:
    if phase.disclosure not in Phase.Disclosure.values:
        expected = ", ".join(Phase.Disclosure.values)
        raise ValueError(
            f"phase {phase.pk} has the unknown disclosure policy {phase.disclosure!r}; expected {expected}"
        )
