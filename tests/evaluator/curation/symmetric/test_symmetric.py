"""A symmetric set is published only if neither claim nor evidence predicts the label."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.tasks.fact_verification.symmetric import check_symmetric

Line = dict[str, Any]


def quadruple(group: Any, *, label: str = "SUPPORTS", words: str = "it rains") -> list[Line]:
    other = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}[label]
    members = [(0, 0, label), (0, 1, other), (1, 0, other), (1, 1, label)]
    return [
        {
            "id": f"{group}-{i}",
            "claim": f"{words} in {group} {'never' if claim else 'daily'}",
            "evidence_text": f"{group} is {'dry' if sentence else 'wet'}",
            "label": answer,
            "group": group,
            "slices": {"origin": "generated" if i else "original"},
        }
        for i, (claim, sentence, answer) in enumerate(members)
    ]


@given(
    groups=st.lists(st.integers() | st.text(), unique_by=str, min_size=1, max_size=6),
    label=st.sampled_from(["SUPPORTS", "REFUTES"]),
    seed=st.integers(),
)
def test_a_symmetric_set_passes_in_any_order(groups: list[Any], label: str, seed: int) -> None:
    lines = [line for group in groups for line in quadruple(group, label=label)]
    random.Random(seed).shuffle(lines)
    assert check_symmetric(lines) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop(), "3 members, expected 4"),
        (lambda m: m.append({**m[3], "id": "more"}), "5 members, expected 4"),
        (lambda m: m[0]["slices"].update(origin="generated"), "0 members with origin original"),
        (lambda m: m[2]["slices"].update(origin="original"), "2 members with origin original"),
        (lambda m: m[2]["slices"].update(origin="mirrored"), "expected 1, and 3 with origin generated"),
        (lambda m: m[2].pop("slices"), "a member has no slices.origin"),
        (lambda m: m[3].pop("evidence_text"), "has no evidence_text"),
        (lambda m: m[1].update(claim="another"), "one more member with the original's claim"),
        (lambda m: m[2].update(evidence_text="another"), "one with its evidence"),
        (lambda m: m[3].update(claim="another"), "the claims of members 3 and 4 differ"),
        (lambda m: m[3].update(evidence_text="another"), "the evidence of members 2 and 4 differs"),
        (lambda m: m[3].update(label="REFUTES"), "labels of members 1 and 4, or of 2 and 3, differ"),
        (lambda m: [line.update(label="SUPPORTS") for line in m], "members 1 and 2 have the same label"),
        (lambda m: m[0].update(label="NOT ENOUGH INFO"), "claim: 3 labels, expected 2"),
    ],
)
def test_each_problem_is_reported_with_its_group(change: Callable[[list[Line]], Any], message: str) -> None:
    members = quadruple("g7")
    change(members)
    problems = check_symmetric(quadruple("g1") + members)
    assert any(message in problem for problem in problems), problems
    assert not any('"g1"' in problem for problem in problems)


def test_a_copied_group_with_inverted_labels_is_found() -> None:
    """The texts alone reveal nothing, but no system can be correct on both groups."""
    lines = quadruple("g1")
    copied = [
        {**line, "group": "g2", "label": {"SUPPORTS": "REFUTES"}.get(line["label"], "SUPPORTS")} for line in lines
    ]
    (problem,) = check_symmetric(lines + copied)
    assert problem.startswith('group "g2": 4 claims with their evidence are also in group "g1", with another label')
    assert check_symmetric(lines + [{**line, "group": "g2"} for line in lines]) == []


def test_a_missing_text_is_not_compared() -> None:
    lines = [{**line, "evidence_text": None} for line in quadruple("g1")]
    assert not any("None" in problem for problem in check_symmetric(lines))


def test_a_word_that_predicts_the_label_is_reported() -> None:
    """Members 1 and 2 must have the same claim; if they differ, a word may occur with only one label."""
    lines = quadruple("g1")
    lines[0]["claim"] = lines[1]["claim"] = "it rains not"
    assert check_symmetric(lines) == []
    lines[0]["claim"] = "it rains never not"
    assert any('unigram "never" predicts the label' in problem for problem in check_symmetric(lines))


def test_further_problems_are_counted() -> None:
    lines = quadruple("g1", words=" ".join(f"word{number}" for number in range(40)))
    lines[0]["label"] = "REFUTES"
    problems = check_symmetric(lines)
    assert any(re.search(r"claim: \d+ more unigrams predict the label", problem) for problem in problems)
    assert len(problems) < 100


@pytest.mark.realdata
@pytest.mark.parametrize("version", ["v0.1_full", "v0.2_dev"])
def test_published_sets_pass_and_reveal_nothing(version: str, realdata: Path) -> None:
    lines = [json.loads(line) for line in (realdata / "symmetric" / version / "gold.jsonl").read_text().splitlines()]
    assert check_symmetric(lines) == []
    for field in ("claim", "evidence_text"):
        for probability in probabilities(lines, field):
            assert probability == 0.5


def probabilities(lines: list[Line], field: str) -> list[float]:
    """p(SUPPORTS | n-gram) over occurrences, for each uni- and bigram; independent of the tested check."""
    labels_of: dict[Any, list[str]] = defaultdict(list)
    for line in lines:
        tokens = re.findall(r"\w+", line[field].lower())
        for gram in [*tokens, *pairwise(tokens)]:
            labels_of[gram].append(line["label"])
    return [labels.count("SUPPORTS") / len(labels) for labels in labels_of.values()]


def test_labels_may_have_either_case() -> None:
    members = quadruple("g")
    members[0]["label"] = "supports"
    members[2]["label"] = "Refutes"
    assert check_symmetric(members) == []
