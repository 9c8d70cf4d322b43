"""Expected widths against the evaluator's intervals of simulated systems."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from evaluator.curation.audit.sizes import sizes
from evaluator.scoring.score import score_outcomes
from tests.evaluator.curation.audit.splits import claims, document, fact, facts, split

SYSTEMS = 8


def expected_and_measured(gold_split, fill):
    """Half widths of the whole: (expected, mean over systems), for independent and for shared errors."""
    options = gold_split.task.parse_options({})
    outcomes = gold_split.task.score(gold_split.gold, gold_split.task.empty_answers(gold_split.gold), options)
    (whole, *_), _ = sizes(gold_split, outcomes)
    measure = gold_split.task.measure(gold_split.task.primary(gold_split.task.facts(gold_split.gold)))
    measured = []
    for shared in (False, True):
        widths = []
        for seed in range(SYSTEMS):
            columns = fill(outcomes, np.random.default_rng(seed), shared)
            simulated = dataclasses.replace(outcomes, statistics={**outcomes.statistics, **columns})
            score = score_outcomes(simulated, [measure], resamples=400, seed=seed)[0]
            widths.append((score.high - score.low) / 2)
        measured.append(float(np.mean(widths)))
    return (whole.width.independent, whole.width.shared), tuple(measured)


def right_or_wrong(outcomes, rng, shared):
    marks = rng.random(outcomes.n_groups)[outcomes.groups] if shared else rng.random(outcomes.n_rows)
    return {"correct": (marks < 0.5).astype(float)}


@pytest.mark.parametrize("per_group", [1, 4])
def test_accuracy(per_group):
    lines = claims(160)
    for i, line in enumerate(lines):
        line["group"] = i // per_group
    expected, real = expected_and_measured(split("fact-verification", lines), right_or_wrong)
    assert expected == pytest.approx(real, rel=0.1)


def test_f1_of_facts_in_documents():
    text = "Ann leads Acme and Bob leads Bolt"
    two = [fact((0, 3), (10, 14)), fact((19, 22), (29, 33), subjectUri="Q3", objectUri="Q4")]
    lines = [document(f"d{i}", text, two[: 1 + i % 2]) for i in range(80)]

    def fill(outcomes, rng, shared):
        gold = outcomes.statistics["link_gold"].astype(int)
        if shared:
            is_found, is_wrong = ((rng.random(outcomes.n_groups) < 0.5)[outcomes.groups] for _ in range(2))
            return {"link_tp": gold * is_found.astype(float), "link_fp": gold * is_wrong.astype(float)}
        return {"link_tp": rng.binomial(gold, 0.5).astype(float), "link_fp": rng.poisson(gold * 0.5).astype(float)}

    expected, real = expected_and_measured(split("knowledge-base-population", lines), fill)
    assert expected == pytest.approx(real, rel=0.12)


def test_auroc():
    def fill(outcomes, rng, shared):
        noise = rng.normal(size=outcomes.n_groups)[outcomes.groups] if shared else rng.normal(size=outcomes.n_rows)
        return {"score": noise + 0.9539 * outcomes.statistics["positive"]}  # AUROC .75

    expected, real = expected_and_measured(split("fact-checking", facts(200)), fill)
    assert expected == pytest.approx(real, rel=0.15)


def test_the_expected_width_for_38_claims():
    """For a share of .5 of 38 claims, 1.96 * sqrt(.25 / 38) = .159; with Student's t it is slightly wider."""
    gold_split = split("fact-verification", claims(38))
    (whole, *_), findings = sizes(
        gold_split,
        gold_split.task.score(
            gold_split.gold, gold_split.task.empty_answers(gold_split.gold), gold_split.task.parse_options({})
        ),
    )
    assert (whole.n, whole.groups) == (38, 38)
    assert 0.159 < whole.width.independent < 0.17
    assert "wide-intervals" in {finding.code for finding in findings}


def test_slices_with_few_groups_are_reported():
    lines = claims(40)
    for i, line in enumerate(lines):
        line |= {"group": i // 2, "slices": {"topic": "rare" if i < 8 else "common"}}
    gold_split = split("fact-verification", lines)
    slice_sizes, findings = sizes(
        gold_split,
        gold_split.task.score(
            gold_split.gold, gold_split.task.empty_answers(gold_split.gold), gold_split.task.parse_options({})
        ),
    )
    rare = next(size for size in slice_sizes if size.slice == {"topic": "rare"})
    assert (rare.n, rare.groups, rare.largest_group) == (8, 4, 2)
    assert "few-groups" in {finding.code for finding in findings}
