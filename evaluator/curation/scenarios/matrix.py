"""Matrix of scenarios: one for every combination of transparency, homogeneity and popularity (`ScenarioParams`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from evaluator.curation.scenarios.counts import Number, ambiguous, exact, from_largest
from evaluator.curation.scenarios.scenario import Claim, ScenarioParams, Scenarios
from evaluator.errors import UsageError
from evaluator.progress import Steps

ClaimsByScenario = list[tuple[ScenarioParams, list[Claim]]]
FEW = 0.1
"""Distinct subjects (objects) per true claim under which a scenario is degenerate."""


def combinations(
    transparencies: Sequence[str], homogeneities: Sequence[str | None], popularities: Sequence[str]
) -> list[ScenarioParams]:
    """Return the parameters of scenarios: one for every combination of transparency, homogeneity and popularity.

    Raises UsageError for a repeated value, and for a share outside 0 to 1.
    """
    for what, values in (("transparency", transparencies), ("homogeneity", homogeneities)):
        shares = [exact(what, value) for value in values if value is not None]
        _check_once(what, shares, [str(value) for value in values])
    _check_once("popularity", popularities, popularities)
    return [ScenarioParams(t, h, p) for p, h, t in product(popularities, homogeneities, transparencies)]


def matrix(scenarios: Scenarios, requested: Sequence[ScenarioParams], *, once: bool = False) -> ClaimsByScenario:
    """Return (parameters, claims) of each requested scenario, in the order of `requested`.

    once: True if no pair may be in two scenarios. A scenario then depends also on the scenarios made before it, in the
    order of transparency. Raises one UsageError that names every scenario that cannot be made.
    """
    claims_by_params: dict[ScenarioParams, list[Claim]] = {}
    errors = []
    progress = Steps(len(requested))
    # The lowest transparency needs the most plausible claims; the others take the first of these.
    for params in sorted(requested, key=lambda params: exact("transparency", params.transparency)):
        try:
            claims_by_params[params] = scenarios.claims(params)
            if once:
                scenarios.use(claims_by_params[params])
        except UsageError as error:
            errors.append(f"{name(params, scenarios)}: {error}")
        progress.add(1)
    if errors:
        raise UsageError("\n".join(dict.fromkeys(errors)))
    return [(params, claims_by_params[params]) for params in requested]


def name(params: ScenarioParams, scenarios: Scenarios) -> str:
    """Return the scenario's name as in published files: `c0.5 h1.0 s300 r1.0 random`.

    The values are transparency, homogeneity (left out if None), size, ratio and popularity.
    """
    homogeneity = [] if params.homogeneity is None else [f"h{decimal(params.homogeneity)}"]
    settings = scenarios.params
    parts = [f"c{decimal(params.transparency)}", *homogeneity, f"s{settings.size}", f"r{decimal(settings.ratio)}"]
    return " ".join([*parts, params.popularity.replace("non-", "no")])


def decimal(number: Number) -> str:
    """Return the number as text without needless zeros: `0.5`, `1.0` for a whole one; a Fraction as `1/3`."""
    text = str(number)
    whole, _, decimals = text.partition(".")
    return text if isinstance(number, Fraction) else f"{int(whole)}.{decimals.rstrip('0') or '0'}"


def matrix_statistics(scenarios: Scenarios, params: ScenarioParams, claims: Sequence[Claim]) -> dict[str, Any]:
    """Return one scenario's statistics as plain JSON values: counts of claims, mean degrees of entities, clusters.

    claims: the claims of the scenario.
    """
    graph = scenarios.graph
    true = [claim for claim in claims if claim.label]
    false = [claim for claim in claims if not claim.label]
    subjects, objects = {claim.subject for claim in true}, {claim.object for claim in true}
    unrelated = [claim for claim in false if claim.origin == "unrelated"]
    sample = {(claim.subject, claim.object) for claim in true}
    outside = sum(claim.subject not in subjects or claim.object not in objects for claim in unrelated)
    outside += sum(claim.source not in sample for claim in false if claim.source is not None)
    statistics: dict[str, Any] = {
        "scenario": name(params, scenarios),
        "true": len(true),
        "false": len(false),
        "plausible": len(false) - len(unrelated),
        "plausible_wanted": ambiguous(exact("transparency", params.transparency), len(false)),
        "unrelated": len(unrelated),
        "false_from_facts_beside_the_true_claims": outside,
        "subjects": len({claim.subject for claim in claims}),
        "objects": len({claim.object for claim in claims}),
        "subjects_of_true": len(subjects),
        "objects_of_true": len(objects),
        "mean_degree_of_true_subjects": _mean([int(graph.degrees[graph.number[c.subject]]) for c in true]),
        "mean_degree_of_true_objects": _mean([int(graph.degrees[graph.number[c.object]]) for c in true]),
    }
    if params.homogeneity is not None:
        n_from_largest = from_largest(exact("homogeneity", params.homogeneity), len(true))
        sizes = Counter(number for _, _, number in scenarios.clustered(params.popularity))
        statistics |= {
            "from_largest_clusters": n_from_largest,
            "clusters_of_true": len({claim.cluster for claim in true}),
            "clusters": len(sizes),
            "largest_cluster": max(sizes.values()),
            "clustered_facts": sum(sizes.values()),
        }
    return statistics


def degenerate(statistics: dict[str, Any]) -> str | None:
    """Return a warning if the true claims of a scenario have few subjects or objects, else None.

    statistics: the scenario's `matrix_statistics`. Few means fewer than one distinct subject, or object, for every ten
    claims. In the published scenarios there is at least one for every 6.25 claims (24 objects of 150 claims).
    """
    true = statistics["true"]
    few = {name: n for name in ("subjects", "objects") if (n := statistics[f"{name}_of_true"]) < FEW * true}
    if not few:
        return None
    counts = " and ".join(f"{n} {name[:-1] if n == 1 else name}" for name, n in few.items())
    return (
        f"{statistics['scenario']}: the {true} true claims have only {counts}; AUROC depends on these few entities, so "
        "it cannot be compared with that of other scenarios"
    )


def recurrence(by_scenario: ClaimsByScenario) -> float:
    """Return the AUROC of predicting a claim's label from how often its pair occurs in all scenarios; .5 is chance."""
    all_claims = [claim for _, claims in by_scenario for claim in claims]
    times = Counter((claim.subject, claim.object) for claim in all_claims)
    seen = Counter((times[claim.subject, claim.object], claim.label) for claim in all_claims)
    true = {count: n for (count, label), n in seen.items() if label}
    false = {count: n for (count, label), n in seen.items() if not label}
    won = sum(n * m * ((count > other) + (count >= other)) for count, n in true.items() for other, m in false.items())
    return won / (2 * sum(true.values()) * sum(false.values()))


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def _check_once(what: str, values: Sequence[object], written: Sequence[str]) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            raise UsageError(f"{what} {written[index]} is given twice, expected different values")
