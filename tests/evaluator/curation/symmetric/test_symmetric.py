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
            "id": f"{group}-{place}",
            "claim": f"{words} in {group} {'never' if claim else 'daily'}",
            "evidence_text": f"{group} is {'dry' if sentence else 'wet'}",
            "label": answer,
            "group": group,
            "slices": {"origin": "generated" if place else "original"},
        }
        for place, (claim, sentence, answer) in enumerate(members)
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
    ("change", "told"),
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
def test_each_fault_is_named_with_its_group(change: Callable[[list[Line]], Any], told: str) -> None:
    members = quadruple("g7")
    change(members)
    faults = check_symmetric(quadruple("g1") + members)
    assert any(told in fault for fault in faults), faults
    assert not any('"g1"' in fault for fault in faults)


def test_a_group_copied_with_its_labels_turned_is_found() -> None:
    """Texts alone tell nothing then; but no system can be right about both."""
    lines = quadruple("g1")
    copied = [
        {**line, "group": "g2", "label": {"SUPPORTS": "REFUTES"}.get(line["label"], "SUPPORTS")} for line in lines
    ]
    (fault,) = check_symmetric(lines + copied)
    assert fault.startswith('group "g2": 4 claims with their evidence are also in group "g1", with another label')
    assert check_symmetric(lines + [{**line, "group": "g2"} for line in lines]) == []


def test_what_is_missing_is_no_text() -> None:
    lines = [{**line, "evidence_text": None} for line in quadruple("g1")]
    assert not any("None" in fault for fault in check_symmetric(lines))


def test_a_word_that_tells_the_label_is_named() -> None:
    """Members 1 and 2 may differ in case or spacing only by mistake; then a text stands with one label alone."""
    lines = quadruple("g1")
    lines[0]["claim"] = lines[1]["claim"] = "it rains not"
    assert check_symmetric(lines) == []
    lines[0]["claim"] = "it rains never not"
    assert any('unigram "never" predicts the label' in fault for fault in check_symmetric(lines))


def test_what_there_is_too_much_of_is_counted() -> None:
    lines = quadruple("g1", words=" ".join(f"word{number}" for number in range(40)))
    lines[0]["label"] = "REFUTES"
    faults = check_symmetric(lines)
    assert any(re.search(r"claim: \d+ more unigrams predict the label", fault) for fault in faults)
    assert len(faults) < 100


@pytest.mark.realdata
@pytest.mark.parametrize("version", ["v0.1_full", "v0.2_dev"])
def test_the_published_sets_pass_and_tell_nothing(version: str, realdata: Path) -> None:
    lines = [json.loads(line) for line in (realdata / "symmetric" / version / "gold.jsonl").read_text().splitlines()]
    assert check_symmetric(lines) == []
    for field in ("claim", "evidence_text"):
        for probability in probabilities(lines, field):
            assert probability == 0.5


def probabilities(lines: list[Line], field: str) -> list[float]:
    """p(SUPPORTS | n-gram) over occurrences, for each uni- and bigram: independent of the check."""
    seen: dict[Any, list[str]] = defaultdict(list)
    for line in lines:
        tokens = re.findall(r"\w+", line[field].lower())
        for gram in [*tokens, *pairwise(tokens)]:
            seen[gram].append(line["label"])
    return [labels.count("SUPPORTS") / len(labels) for labels in seen.values()]


def test_labels_may_stand_in_either_case() -> None:
    members = quadruple("g")
    members[0]["label"] = "supports"
    members[2]["label"] = "Refutes"
    assert check_symmetric(members) == []
