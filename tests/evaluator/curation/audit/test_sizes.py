"""Expected widths against the referee's own intervals of made-up systems."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from evaluator.curation.audit.sizes import sizes
from evaluator.scoring.score import score_outcomes
from tests.evaluator.curation.audit.splits import claims, document, fact, facts, split

SYSTEMS = 8


def expected_and_real(one, fill):
    """Half widths of the whole: (expected, mean over systems) for independent and for shared mistakes."""
    options = one.task.parse_options({})
    outcomes = one.task.score(one.gold, one.task.unanswered(one.gold), options)
    (whole, *_), _ = sizes(one, outcomes)
    measure = one.task.measure(one.task.primary(one.task.facts(one.gold)))
    real = []
    for shared in (False, True):
        widths = []
        for seed in range(SYSTEMS):
            drawn = fill(outcomes, np.random.default_rng(seed), shared)
            made = dataclasses.replace(outcomes, statistics={**outcomes.statistics, **drawn})
            score = score_outcomes(made, [measure], resamples=400, seed=seed)[0]
            widths.append((score.high - score.low) / 2)
        real.append(float(np.mean(widths)))
    return (whole.width.independent, whole.width.shared), tuple(real)


def right_or_wrong(outcomes, rng, shared):
    marks = rng.random(outcomes.n_groups)[outcomes.groups] if shared else rng.random(outcomes.n_rows)
    return {"correct": (marks < 0.5).astype(float)}


@pytest.mark.parametrize("per_group", [1, 4])
def test_accuracy(per_group):
    lines = claims(160)
    for place, line in enumerate(lines):
        line["group"] = place // per_group
    expected, real = expected_and_real(split("fact-verification", lines), right_or_wrong)
    assert expected == pytest.approx(real, rel=0.1)


def test_f1_of_facts_in_documents():
    text = "Ann leads Acme and Bob leads Bolt"
    two = [fact((0, 3), (10, 14)), fact((19, 22), (29, 33), subjectUri="Q3", objectUri="Q4")]
    lines = [document(f"d{place}", text, two[: 1 + place % 2]) for place in range(80)]

    def fill(outcomes, rng, shared):
        gold = outcomes.statistics["link_gold"].astype(int)
        if shared:
            found, wrong = ((rng.random(outcomes.n_groups) < 0.5)[outcomes.groups] for _ in range(2))
            return {"link_tp": gold * found.astype(float), "link_fp": gold * wrong.astype(float)}
        return {"link_tp": rng.binomial(gold, 0.5).astype(float), "link_fp": rng.poisson(gold * 0.5).astype(float)}

    expected, real = expected_and_real(split("knowledge-base-population", lines), fill)
    assert expected == pytest.approx(real, rel=0.12)


def test_auroc():
    def fill(outcomes, rng, shared):
        noise = rng.normal(size=outcomes.n_groups)[outcomes.groups] if shared else rng.normal(size=outcomes.n_rows)
        return {"score": noise + 0.9539 * outcomes.statistics["positive"]}  # AUROC .75

    expected, real = expected_and_real(split("fact-checking", facts(200)), fill)
    assert expected == pytest.approx(real, rel=0.15)


def test_38_facts_come_16_hundredths():
    """Of 38 claims a share of .5 reaches 1.96 * sqrt(.25 / 38) = .159, and Student's t a little further."""
    one = split("fact-verification", claims(38))
    (whole, *_), findings = sizes(
        one, one.task.score(one.gold, one.task.unanswered(one.gold), one.task.parse_options({}))
    )
    assert (whole.n, whole.groups) == (38, 38)
    assert 0.159 < whole.width.independent < 0.17
    assert "wide-intervals" in {finding.code for finding in findings}


def test_slices_with_few_groups_are_told():
    lines = claims(40)
    for place, line in enumerate(lines):
        line |= {"group": place // 2, "slices": {"topic": "rare" if place < 8 else "common"}}
    one = split("fact-verification", lines)
    found, findings = sizes(one, one.task.score(one.gold, one.task.unanswered(one.gold), one.task.parse_options({})))
    rare = next(size for size in found if size.slice == {"topic": "rare"})
    assert (rare.n, rare.groups, rare.largest_group) == (8, 4, 2)
    assert "few-groups" in {finding.code for finding in findings}
