"""What a phase shows: its disclosure policy (`evaluator.disclosure.policy`), applied to scores and all that follows.

Every number that is computed from hidden gold passes through this module before it is stored for readers or shown to
them (`tests/test_architecture.py`). Only organisers see the exact values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from evaluator.disclosure import ladder, policy, rounding
from evaluator.disclosure.ladder import MeasureOf, Scores
from evaluator.disclosure.policy import Afterwards, Kind, Policy
from evaluator.disclosure.rounding import Bounded
from leaderboard.boards.disclosure.costs import Cost
from leaderboard.boards.queries.slices import raw_slice_key
from leaderboard.models import Phase


class Interval(Protocol):
    """A shown score; None: it has no interval."""

    @property
    def low(self) -> float | None: ...


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


def reveal_warnings(*, phase: Phase, warnings: list[str], of_scores: Callable[[], Collection[str]]) -> list[str]:
    """Return the warnings to show; none on a ladder, because a warning can reveal facts about the gold.

    of_scores: function that returns the warnings that were made from exact scores, which are shown only if scores are
    exact. The others are about the predictions alone.
    """
    if phase.disclosure == Phase.Disclosure.LADDER:
        return []
    if policy_of(phase).exact or not warnings:
        return warnings
    return [warning for warning in warnings if warning not in of_scores()]


def is_detailed(phase: Phase, primary: Interval) -> bool:
    """Return True if an answer is shown in detail: with other numbers than its overall primary score.

    primary: that score, as it is shown. It has an interval in detailed answers only.
    """
    return policy_of(phase).exact or primary.low is not None


def reveal_difference(
    *, phase: Phase, numbers: Mapping[str, Any], measure: Bounded, n_groups: int, values: Iterable[float | None]
) -> Mapping[str, Any]:
    """Return a difference of two systems and its interval as they are shown; see `policy.rounded_difference`."""
    if policy_of(phase).exact:
        return numbers
    return policy.rounded_difference(numbers, measure, n_groups=max(1, n_groups), values=values)


def step_of(phase: Phase, measure: Bounded, n_groups: int | None) -> float | None:
    """Return the step to which a measure's scores are rounded; None if they are exact, or each has a step of its own.

    n_groups: number of groups behind the scores. On a ladder, it is the step of the ladder.
    """
    if phase.disclosure == Phase.Disclosure.LADDER:
        return ladder.step(measure, n_groups)
    return None if policy_of(phase).exact or not n_groups else rounding.step(measure, n_groups)


def reveal_p(phase: Phase, p: float | None, *, difference: float | None) -> float | None:
    """Return a p-value as it is shown. It is rounded up, so that it is significant at 5 % if and only if p is.

    difference: as it is shown. Where it is rounded to 0 there is no p: that of two systems that differ in two groups
    would tell whether both changes are for the better.
    """
    if p is None or policy_of(phase).exact:
        return p
    return rounding.p_value(p) if difference else None


def reveal_n_permutations(phase: Phase, n: int) -> int | None:
    """Return the number of permutations behind a p-value; None where p-values are rounded.

    Permutations end when enough of them reach the observed difference, so that p follows from their number.
    """
    return n if policy_of(phase).exact else None


def reveal_counts(*, phase: Phase, counts: Mapping[str, int], n_groups: int, is_slice: bool = False) -> dict[str, int]:
    """Return numbers of units of several kinds, all units together, as they are shown: as rounded shares of all.

    n_groups: number of groups of the units. is_slice: they are the units of a slice, whose number is shown rounded.
    """
    if policy_of(phase).exact:
        return dict(counts)
    n = sum(counts.values())
    return {
        name: policy.rounded_count(count, n=n, n_groups=max(1, n_groups), is_slice=is_slice)
        for name, count in counts.items()
    }


def reveal_plots(
    phase: Phase, content: Mapping[str, Any], *, scores: Scores, primary: str, groups: Callable[[], Mapping[str, int]]
) -> dict[str, Any]:
    """Return the plot data of an answer as they are shown; {} if they are not.

    content: the JSON of a `ReleasePlot`. scores: those that the answer shows, of which `primary` is the name of the
    primary measure. groups: function that returns the number of groups of each slice, by `raw_slice_key`. Only slices
    with shown scores are plotted. ROC curves are coarse from the start (docs/adr/0016).
    """
    if policy_of(phase).exact:
        return dict(content)
    if not any(score["measure"] == primary and not score["slice"] and score["low"] is not None for score in scores):
        return {}
    slices = {raw_slice_key(score["slice"]) for score in scores}
    shown = {
        kind: [part for part in parts if raw_slice_key(part["slice"]) in slices]
        for kind, parts in content.items()
        if kind in ("curves", "grids")
    }
    for grid in shown.get("grids", ()):
        n, n_groups = sum(sum(column["counts"]) for column in grid["columns"]), groups()[raw_slice_key(grid["slice"])]
        about = partial(policy.rounded_count, n=n, n_groups=n_groups, is_slice=bool(grid["slice"]))
        grid["columns"] = [{**column, "counts": list(map(about, column["counts"]))} for column in grid["columns"]]
    pairs = content.get("pairs")
    return {**shown, "pairs": reveal_counts(phase=phase, counts=pairs, n_groups=groups()[""])} if pairs else shown


def _check_known(phase: Phase) -> None:
    if phase.disclosure not in Phase.Disclosure.values:
        expected = ", ".join(Phase.Disclosure.values)
        raise ValueError(
            f"phase {phase.pk} has the unknown disclosure policy {phase.disclosure!r}; expected {expected}"
        )
