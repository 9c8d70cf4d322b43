"""Scores of a subset of groups equal the scores on a gold that holds only those groups, for every kind of row."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from evaluator.curation.splitting.public_private import split_public_private
from evaluator.errors import SandboxError, UsageError
from evaluator.jobs import JOBS
from evaluator.jobs.public_private_file import read_public_private, write_public_private
from evaluator.measures.subset import subset_of_groups
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.registry import TASKS


def claims(n: int, *, per_group: int = 2) -> list[dict[str, Any]]:
    labels = np.random.default_rng(3).integers(0, 2, n)
    return [
        {"id": f"c{i}", "claim": f"c{i}", "label": ("SUPPORTS", "REFUTES")[labels[i]], "group": f"g{i // per_group}"}
        for i in range(n)
    ]


def texts(n: int) -> list[dict[str, Any]]:
    return [
        {"id": i, "text": f"t{i}", "group": i // 2, "facts": [["s", f"r{i % 3}", f"o{i}"], ["s", "r0", f"o{i % 5}"]]}
        for i in range(n)
    ]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


CASES = {
    "fact-verification": (claims(40), lambda row: {"id": row["id"], "predicted_label": "SUPPORTS"}),
    "fact-extraction": (
        texts(20),
        lambda row: {"id": row["id"], "facts": [["s", "r0", f"o{row['id']}"], ["x", "r9", "y"]]},
    ),
}


def scored(task: str, gold: list[dict[str, Any]], answers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    files = {"gold": io.BytesIO(lines(gold)), "predictions": io.BytesIO(lines(answers)), **more.pop("files", {})}
    named = {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
    report, _ = JOBS["score"](files, {"task": task, "resamples": 50, "seed": 1, **named, **more})
    assert report["ok"], report
    return report


@pytest.mark.parametrize("task", CASES)
@pytest.mark.parametrize("subset", ["public", "private"])
def test_a_subset_scores_as_a_gold_of_its_groups_alone(task: str, subset: str) -> None:
    gold, answer = CASES[task]
    partition = split_public_private([row["group"] for row in gold], seed=4)
    own = [row for row in gold if row["group"] in getattr(partition, subset)]
    alone = scored(task, own, [answer(row) for row in own])
    files = {"partition": io.BytesIO(write_public_private(partition))}
    subset_report = scored(task, gold, [answer(row) for row in gold], subset=subset, files=files)
    names = {json.dumps(row["slice"]) for row in alone["result"]["scores"]}
    shared = [row for row in subset_report["result"]["scores"] if json.dumps(row["slice"]) in names]
    assert shared == alone["result"]["scores"] and names
    assert [subset_report["result"][name] for name in ("n_units", "n_groups")] == [
        alone["result"][name] for name in ("n_units", "n_groups")
    ]


def test_the_groups_of_a_slice_depend_on_gold_alone() -> None:
    gold = texts(20)
    report = scored("fact-extraction", gold, [{"id": row["id"], "facts": [["s", "r1", "made up"]]} for row in gold])
    n_groups = {
        row["slice"].get("relation"): groups
        for row, groups in zip(report["result"]["scores"], report["groups"], strict=True)
        if row["measure"] == "f1"
    }
    assert n_groups[None] == 10
    assert n_groups["r1"] == len({row["group"] for row in gold if any(fact[1] == "r1" for fact in row["facts"])}) < 10


def test_a_subset_without_a_group_of_the_gold_is_refused() -> None:
    task = TASKS["fact-verification"]
    gold, _ = task.samples[0]
    options = task.parse_options({})
    read = task.read_gold(io.BytesIO(gold), "gold.jsonl", options)
    outcomes = task.score(read, task.empty_answers(read), options)
    units = task.measure("accuracy").units
    with pytest.raises(UsageError, match="none of the groups"):
        subset_of_groups(outcomes, {"nobody"}, units=units)
    whole = subset_of_groups(outcomes, set(outcomes.group_names), units=units)
    assert score_outcomes(whole, task.measures) == score_outcomes(outcomes, task.measures)
    assert whole.n_units == outcomes.n_units


def test_a_partition_survives_writing_and_damaged_files_are_refused() -> None:
    partition = split_public_private([1, 2, "1", "b", "a", 10], seed=0)
    assert read_public_private(write_public_private(partition)) == partition
    assert write_public_private(partition) == write_public_private(read_public_private(write_public_private(partition)))
    for damaged in (b"", b"{}", b'{"public": [1.5], "private": []}', b'{"public": [], "private": [], "x": 1}'):
        with pytest.raises(SandboxError):
            read_public_private(damaged)
