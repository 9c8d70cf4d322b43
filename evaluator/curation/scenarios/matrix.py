"""All scenarios of a matrix: each transparency with each homogeneity and each popularity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from evaluator.curation.scenarios.counts import Number, ambiguous, exact, from_largest
from evaluator.curation.scenarios.scenario import Cell, Claim, Scenarios
from evaluator.errors import UsageError
from evaluator.progress import Steps

Made = list[tuple[Cell, list[Claim]]]


def cells(
    transparencies: Sequence[str], homogeneities: Sequence[str | None], popularities: Sequence[str]
) -> list[Cell]:
    """Every combination, each as given. Raises UsageError for a value that comes twice, or is no share."""
    for what, values in (("transparency", transparencies), ("homogeneity", homogeneities)):
        shares = [exact(what, value) for value in values if value is not None]
        _check_once(what, shares, [str(value) for value in values])
    _check_once("popularity", popularities, popularities)
    return [Cell(t, h, p) for p, h, t in product(popularities, homogeneities, transparencies)]


def matrix(scenarios: Scenarios, wanted: Sequence[Cell], *, once: bool = False) -> Made:
    """The claims of each cell, in the order given. Raises UsageError that names every cell that cannot be.

    once: no pair of a cell stands in a cell before it. Each scenario then follows from those before it, too.
    """
    made: dict[Cell, list[Claim]] = {}
    faults = []
    progress = Steps(len(wanted))
    # The lowest transparency needs the most plausible claims, of which the others take the first.
    for cell in sorted(wanted, key=lambda cell: exact("transparency", cell.transparency)):
        try:
            made[cell] = scenarios.claims(cell)
            if once:
                scenarios.use(made[cell])
        except UsageError as fault:
            faults.append(f"{name(cell, scenarios)}: {fault}")
        progress.add(1)
    if faults:
        raise UsageError("\n".join(dict.fromkeys(faults)))
    return [(cell, made[cell]) for cell in wanted]


def name(cell: Cell, scenarios: Scenarios) -> str:
    """As the published files have it: `c0.5 h1.0 s300 r1.0 random`; without h where clusters were not asked about."""
    homogeneity = [] if cell.homogeneity is None else [f"h{decimal(cell.homogeneity)}"]
    wanted = scenarios.wanted
    parts = [f"c{decimal(cell.transparency)}", *homogeneity, f"s{wanted.size}", f"r{decimal(wanted.ratio)}"]
    return " ".join([*parts, cell.popularity.replace("non-", "no")])


def decimal(number: Number) -> str:
    """The decimal as written, with one place at least and no more than it needs."""
    text = str(number)
    whole, _, places = text.partition(".")
    return text if isinstance(number, Fraction) else f"{int(whole)}.{places.rstrip('0') or '0'}"


def measured(scenarios: Scenarios, cell: Cell, claims: Sequence[Claim]) -> dict[str, Any]:
    """What a cell holds, as plain JSON values."""
    graph = scenarios.graph
    true = [claim for claim in claims if claim.label]
    false = [claim for claim in claims if not claim.label]
    subjects, objects = {claim.subject for claim in true}, {claim.object for claim in true}
    unrelated = [claim for claim in false if claim.origin == "unrelated"]
    sample = {(claim.subject, claim.object) for claim in true}
    outside = sum(claim.subject not in subjects or claim.object not in objects for claim in unrelated)
    outside += sum(claim.source not in sample for claim in false if claim.source is not None)
    told: dict[str, Any] = {
        "scenario": name(cell, scenarios),
        "true": len(true),
        "false": len(false),
        "plausible": len(false) - len(unrelated),
        "plausible_wanted": ambiguous(exact("transparency", cell.transparency), len(false)),
        "unrelated": len(unrelated),
        "false_from_facts_beside_the_true_claims": outside,
        "mean_degree_of_true_subjects": _mean([int(graph.degrees[graph.number[c.subject]]) for c in true]),
        "mean_degree_of_true_objects": _mean([int(graph.degrees[graph.number[c.object]]) for c in true]),
    }
    if cell.homogeneity is not None:
        wanted = from_largest(exact("homogeneity", cell.homogeneity), len(true))
        sizes = Counter(number for _, _, number in scenarios.clustered(cell.popularity))
        told |= {
            "from_largest_clusters": wanted,
            "clusters_of_true": len({claim.cluster for claim in true}),
            "clusters": len(sizes),
            "largest_cluster": max(sizes.values()),
            "clustered_facts": sum(sizes.values()),
        }
    return told


def recurrence(made: Made) -> float:
    """The AUROC of how often a claim's pair stands in the scenarios: .5 where that tells nothing of its label."""
    every = [claim for _, claims in made for claim in claims]
    times = Counter((claim.subject, claim.object) for claim in every)
    seen = Counter((times[claim.subject, claim.object], claim.label) for claim in every)
    true = {often: n for (often, label), n in seen.items() if label}
    false = {often: n for (often, label), n in seen.items() if not label}
    won = sum(n * m * ((often > other) + (often >= other)) for often, n in true.items() for other, m in false.items())
    return won / (2 * sum(true.values()) * sum(false.values()))


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def _check_once(what: str, values: Sequence[object], written: Sequence[str]) -> None:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{what} {written[place]} is given twice, expected each once")
