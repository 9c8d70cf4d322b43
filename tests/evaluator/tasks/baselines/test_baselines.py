"""Trivial baselines: their answers, the data that they use, and that they are deterministic."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.main import main
from evaluator.jobs import JOBS
from evaluator.tasks.link_prediction import baselines
from evaluator.tasks.registry import TASKS
from tests.support.scoring_runs import taken_by

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
SETS = {
    "knowledge-base-population": ("atlas-facts", "train"),
    "fact-verification": ("mirror-claims", "train"),
    "fact-checking": ("graph-claims", "train"),
    "link-prediction": ("open-facts", "dev"),
    "fact-extraction": ("life-facts", "train"),
    "metric-correlation": ("rated-summaries", "dev"),
}
"""Each task's fixture and its training split."""
EACH = [(name, baseline.name) for name, task in TASKS.items() for baseline in task.baselines]


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def run_baseline(
    task: str, name: str, inputs: bytes, trains: Sequence[bytes] = (), **more: Any
) -> list[dict[str, Any]]:
    files = {"inputs": io.BytesIO(inputs)} | {str(i): io.BytesIO(train) for i, train in enumerate(trains)}
    names = [f"train-{i}.jsonl" for i in range(len(trains))]
    arguments = {"task": task, "baseline": name, "inputs_name": "inputs.jsonl", "train_names": names, **more}
    report, body = JOBS["baseline"](files, arguments)
    assert report["ok"], report
    assert report["says"] is bool(body) and report["n_lines"] == body.count(b"\n")
    return [json.loads(line) for line in body.splitlines()]


def fixture(task: str) -> tuple[bytes, dict[str, Any], bytes, bytes]:
    """(gold, facts, public inputs, training gold)"""
    folder, train = SETS[task]
    gold, known = ((FIXTURES / folder / "splits" / f"{name}.jsonl").read_bytes() for name in ("test", train))
    report, inputs = JOBS["prepare_gold"]({"gold": io.BytesIO(gold)}, {"task": task, "gold_name": "gold.jsonl"})
    return gold, report["expects"], inputs, known


def test_every_task_has_baselines() -> None:
    assert {name for name, task in TASKS.items() if task.baselines} == SETS.keys()


@pytest.mark.parametrize(("task", "name"), EACH)
def test_answers_are_valid_and_deterministic(task: str, name: str) -> None:
    gold, facts, inputs, train = fixture(task)
    answers = run_baseline(task, name, inputs, [train], expects=facts)
    assert answers == run_baseline(task, name, inputs, [train], expects=facts)
    assert len(answers) > 0
    names = {"task": task, "inputs_name": "inputs.jsonl", "gold_name": "gold.jsonl", "predictions_name": "p.jsonl"}
    files = {"inputs": io.BytesIO(inputs), "predictions": io.BytesIO(lines(*answers)), "gold": io.BytesIO(gold)}
    report, _ = JOBS["validate"](files, taken_by("validate", names | {"expects": facts}))
    assert report["ok"], report
    files["predictions"].seek(0)
    scored, _ = JOBS["score"](files, taken_by("score", names | {"resamples": 0}))
    watched = {baseline.name: baseline for baseline in TASKS[task].baselines}[name].audited_measure
    assert watched in {row["measure"] for row in scored["result"]["scores"]}


@pytest.mark.parametrize("task", [task for task, name in EACH if name == "random"])
def test_random_answers_depend_on_the_seed(task: str) -> None:
    _, facts, inputs, _ = fixture(task)
    assert run_baseline(task, "random", inputs, expects=facts, seed=1) != run_baseline(
        task, "random", inputs, expects=facts, seed=2
    )


@pytest.mark.parametrize("task", [task for task, name in EACH if name == "random"])
def test_reference_baselines_and_watched_measures_exist(task: str) -> None:
    names = {baseline.name for baseline in TASKS[task].baselines}
    assert all(baseline.reference in names for baseline in TASKS[task].baselines if baseline.reference)
    measures = {measure.name for measure in TASKS[task].measures}
    assert all(baseline.audited_measure in measures for baseline in TASKS[task].baselines)


CLAIMS = lines(
    *({"id": n, "claim": f"it is never {n}", "label": "REFUTES", "evidence_text": "e"} for n in range(3)),
    *({"id": n, "claim": f"it is also {n}", "label": "SUPPORTS", "evidence_text": "e"} for n in range(3, 8)),
)
INPUTS = lines(
    {"id": "a", "claim": "it is never that", "evidence_text": "e"},
    {"id": "b", "claim": "it is also this", "evidence_text": "e"},
)


def labels(name: str, *trains: bytes) -> list[str]:
    return [row["predicted_label"] for row in run_baseline("fact-verification", name, INPUTS, trains)]


def test_claim_words_are_learned_from_public_gold() -> None:
    assert labels("majority", CLAIMS) == ["SUPPORTS", "SUPPORTS"]
    assert labels("majority", CLAIMS.splitlines(True)[0]) == ["REFUTES", "REFUTES"]
    assert labels("claim-only", CLAIMS) == ["REFUTES", "SUPPORTS"]
    assert labels("evidence-only", CLAIMS) == ["SUPPORTS", "SUPPORTS"]
    assert labels("claim-only") == [] == labels("evidence-only")
    # The random baseline uses only labels of public gold.
    assert {*labels("random", CLAIMS)} <= {"SUPPORTS", "REFUTES"}


def test_subject_scores_are_smoothed_shares_of_public_gold() -> None:
    train = lines(
        {"id": 1, "subject": "a", "relation": "r", "object": "x", "label": True},
        {"id": 2, "subject": "a", "relation": "r", "object": "y", "label": True},
        {"id": 3, "subject": "b", "relation": "r", "object": "x", "label": False},
    )
    inputs = lines(
        {"id": 4, "subject": "a", "relation": "r", "object": "y"},
        {"id": 5, "subject": "c", "relation": "r", "object": "x"},
    )
    scores = [row["score"] for row in run_baseline("fact-checking", "subject-only", inputs, [train])]
    # (true + share of true) / (all + 1); an unseen subject gets the overall share.
    assert scores == pytest.approx([(2 + 2 / 3) / 3, 2 / 3])
    assert [row["score"] for row in run_baseline("fact-checking", "degree", inputs)] == [2.0, 2.0]


def test_mentions_are_ranked_by_frequency_in_public_gold() -> None:
    train = lines(
        {"id": 1, "question": ["a", "r", "?"], "answers": ["x"], "filtered": []},
        {"id": 2, "question": ["b", "r", "?"], "answers": ["y"], "filtered": []},
        {"id": 3, "question": ["c", "r", "?"], "answers": ["y"], "filtered": []},
        {"id": 4, "question": ["a", "s", "?"], "answers": ["z"], "filtered": []},
    )
    inputs = lines({"id": 5, "question": ["a", "r", "?"]}, {"id": 6, "question": ["?", "r", "q"]})
    by_relation = run_baseline("link-prediction", "by-relation", inputs, [train])
    assert [row["ranking"] for row in by_relation] == [["y", "x"], ["a", "b", "c"]]
    assert run_baseline("link-prediction", "by-entity", inputs, [train])[0]["ranking"] == ["x", "z"]
    assert run_baseline("link-prediction", "by-questions", inputs)[0]["ranking"] == ["q"]
    assert run_baseline("link-prediction", "by-relation", inputs) == []


@pytest.mark.parametrize(("max_ranked", "each"), [(6, 2), (1, 1), (4_000_000, 3)])
def test_rankings_of_a_large_split_are_shorter(monkeypatch: pytest.MonkeyPatch, max_ranked: int, each: int) -> None:
    monkeypatch.setattr(baselines, "MOST_RANKED", max_ranked)
    inputs = lines(*({"id": n, "question": [mention, "r", "?"]} for n, mention in enumerate("abc")))
    train = lines({"id": 1, "question": ["a", "r", "?"], "answers": ["x", "y", "z"], "filtered": []})
    for name in ("random", "by-relation"):
        assert [len(row["ranking"]) for row in run_baseline("link-prediction", name, inputs, [train])] == [each] * 3


def test_facts_of_public_gold_are_predicted_for_any_text() -> None:
    train = lines({"id": 1, "facts": [["a", "born in", "x"], ["b", "born in", "x"], ["c", "born in", "y"]]})
    inputs = lines({"id": 2, "text": "t", "subject": "a"}, {"id": 3, "text": "t", "subject": "new"})
    known = [row["facts"] for row in run_baseline("fact-extraction", "known-facts", inputs, [train])]
    assert known == [[["a", "born in", "x"]], []]
    common = [row["facts"] for row in run_baseline("fact-extraction", "commonest-facts", inputs, [train])]
    assert common == [[["a", "born in", "x"]], [["new", "born in", "x"]]]


def test_all_folds_of_training_gold_are_read() -> None:
    _, facts, inputs, train = fixture("knowledge-base-population")
    assert run_baseline(
        "knowledge-base-population", "whole-passage", inputs, [train], options={"fold": "5"}, expects=facts
    )


def test_invalid_inputs_gold_and_names_are_reported() -> None:
    arguments = {"task": "fact-checking", "baseline": "degree", "inputs_name": "inputs.jsonl"}
    report, _ = JOBS["baseline"]({"inputs": io.BytesIO(b'{"id": 1}\n')}, arguments)
    assert (report["ok"], report["fault"]) == (False, "inputs")
    files = {"inputs": io.BytesIO(INPUTS), "0": io.BytesIO(b"{}\n")}
    other_arguments = {"task": "fact-verification", "baseline": "majority", "train_names": ["train.jsonl"]}
    report, _ = JOBS["baseline"](files, arguments | other_arguments)
    assert (report["ok"], report["fault"]) == (False, "gold")
    report, _ = JOBS["baseline"](files, arguments | {"baseline": "clever"})
    assert (report["ok"], report["fault"]) == (False, "usage")


def test_the_command_writes_the_same_answers_as_the_server(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    inputs, train = tmp_path / "inputs.jsonl", tmp_path / "train.jsonl"
    inputs.write_bytes(INPUTS)
    train.write_bytes(CLAIMS)
    command = ["run-baseline", "fact-verification", "evidence-only", "--inputs", str(inputs)]
    assert main([*command, "--train", str(train)]) == 0
    written = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert written == run_baseline("fact-verification", "evidence-only", INPUTS, [CLAIMS])
    assert main(command) == 64
    assert b"it needs public gold" in capfdbinary.readouterr().err
    compressed = tmp_path / "inputs.jsonl.gz"
    compressed.write_bytes(gzip.compress(INPUTS))
    assert main([*command[:-1], str(compressed), "--train", str(train)]) == 0
    assert [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()] == written
    assert main(["run-baseline", "fact-verification"]) == 0
    assert b"evidence-only: " in capfdbinary.readouterr().out
    assert main([*command[:2], "clever", *command[3:]]) == 64
    assert main(command[:3]) == 64
    capfdbinary.readouterr()
    for seed in ("-1", "x", "\u00b2", "1" * 5000):
        assert main([*command, "--train", str(train), "--seed", seed]) == 64
        assert b"--seed is" in capfdbinary.readouterr().err
    inputs.write_bytes(b"{}\n")
    assert main([*command, "--train", str(train)]) == 3
