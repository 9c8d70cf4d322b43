"""Baselines that solve nothing: what they say, of what, and that they are always the same."""

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
"""A fixture of each task, and the split that is learnt from."""
EACH = [(name, baseline.name) for name, task in TASKS.items() for baseline in task.baselines]


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def made(task: str, name: str, inputs: bytes, trains: Sequence[bytes] = (), **more: Any) -> list[dict[str, Any]]:
    files = {"inputs": io.BytesIO(inputs)} | {str(place): io.BytesIO(train) for place, train in enumerate(trains)}
    names = [f"train-{place}.jsonl" for place in range(len(trains))]
    asked = {"task": task, "baseline": name, "inputs_name": "inputs.jsonl", "train_names": names, **more}
    report, body = JOBS["baseline"](files, asked)
    assert report["ok"], report
    assert report["says"] is bool(body) and report["n_lines"] == body.count(b"\n")
    return [json.loads(line) for line in body.splitlines()]


def fixture(task: str) -> tuple[bytes, dict[str, Any], bytes, bytes]:
    """(gold, facts, public inputs, training gold)"""
    folder, train = SETS[task]
    gold, known = ((FIXTURES / folder / "splits" / f"{name}.jsonl").read_bytes() for name in ("test", train))
    report, inputs = JOBS["prepare_gold"]({"gold": io.BytesIO(gold)}, {"task": task, "gold_name": "gold.jsonl"})
    return gold, report["expects"], inputs, known


def test_every_task_has_some() -> None:
    assert {name for name, task in TASKS.items() if task.baselines} == SETS.keys()


@pytest.mark.parametrize(("task", "name"), EACH)
def test_its_answers_fit_and_are_always_the_same(task: str, name: str) -> None:
    gold, facts, inputs, train = fixture(task)
    answers = made(task, name, inputs, [train], expects=facts)
    assert answers == made(task, name, inputs, [train], expects=facts)
    assert len(answers) > 0
    named = {"task": task, "inputs_name": "inputs.jsonl", "gold_name": "gold.jsonl", "predictions_name": "p.jsonl"}
    files = {"inputs": io.BytesIO(inputs), "predictions": io.BytesIO(lines(*answers)), "gold": io.BytesIO(gold)}
    report, _ = JOBS["validate"](files, taken_by("validate", named | {"expects": facts}))
    assert report["ok"], report
    files["predictions"].seek(0)
    scored, _ = JOBS["score"](files, taken_by("score", named | {"resamples": 0}))
    watched = {one.name: one for one in TASKS[task].baselines}[name].watched
    assert watched in {row["measure"] for row in scored["result"]["scores"]}


@pytest.mark.parametrize("task", [task for task, name in EACH if name == "random"])
def test_what_is_drawn_hangs_on_the_seed(task: str) -> None:
    _, facts, inputs, _ = fixture(task)
    assert made(task, "random", inputs, expects=facts, seed=1) != made(task, "random", inputs, expects=facts, seed=2)


@pytest.mark.parametrize("task", [task for task, name in EACH if name == "random"])
def test_what_is_held_beside_another_is_there(task: str) -> None:
    names = {one.name for one in TASKS[task].baselines}
    assert all(one.reference in names for one in TASKS[task].baselines if one.reference)
    assert all(one.watched in {measure.name for measure in TASKS[task].measures} for one in TASKS[task].baselines)


CLAIMS = lines(
    *({"id": n, "claim": f"it is never {n}", "label": "REFUTES", "evidence_text": "e"} for n in range(3)),
    *({"id": n, "claim": f"it is also {n}", "label": "SUPPORTS", "evidence_text": "e"} for n in range(3, 8)),
)
ASKED = lines(
    {"id": "a", "claim": "it is never that", "evidence_text": "e"},
    {"id": "b", "claim": "it is also this", "evidence_text": "e"},
)


def labels(name: str, *trains: bytes) -> list[str]:
    return [row["predicted_label"] for row in made("fact-verification", name, ASKED, trains)]


def test_a_claims_words_are_learnt_from_public_gold() -> None:
    assert labels("majority", CLAIMS) == ["SUPPORTS", "SUPPORTS"]
    assert labels("majority", CLAIMS.splitlines(True)[0]) == ["REFUTES", "REFUTES"]
    assert labels("claim-only", CLAIMS) == ["REFUTES", "SUPPORTS"]
    assert labels("evidence-only", CLAIMS) == ["SUPPORTS", "SUPPORTS"]
    assert labels("claim-only") == [] == labels("evidence-only")
    # Only labels that public gold has are drawn.
    assert {*labels("random", CLAIMS)} <= {"SUPPORTS", "REFUTES"}


def test_a_part_of_a_claim_is_counted_in_public_gold() -> None:
    train = lines(
        {"id": 1, "subject": "a", "relation": "r", "object": "x", "label": True},
        {"id": 2, "subject": "a", "relation": "r", "object": "y", "label": True},
        {"id": 3, "subject": "b", "relation": "r", "object": "x", "label": False},
    )
    inputs = lines(
        {"id": 4, "subject": "a", "relation": "r", "object": "y"},
        {"id": 5, "subject": "c", "relation": "r", "object": "x"},
    )
    found = [row["score"] for row in made("fact-checking", "subject-only", inputs, [train])]
    # (true + share of true) / (all + 1); a subject that was never seen has the share of all.
    assert found == pytest.approx([(2 + 2 / 3) / 3, 2 / 3])
    assert [row["score"] for row in made("fact-checking", "degree", inputs)] == [2.0, 2.0]


def test_mentions_are_ranked_by_how_often_they_stand_there() -> None:
    train = lines(
        {"id": 1, "question": ["a", "r", "?"], "answers": ["x"], "filtered": []},
        {"id": 2, "question": ["b", "r", "?"], "answers": ["y"], "filtered": []},
        {"id": 3, "question": ["c", "r", "?"], "answers": ["y"], "filtered": []},
        {"id": 4, "question": ["a", "s", "?"], "answers": ["z"], "filtered": []},
    )
    inputs = lines({"id": 5, "question": ["a", "r", "?"]}, {"id": 6, "question": ["?", "r", "q"]})
    by_relation = made("link-prediction", "by-relation", inputs, [train])
    assert [row["ranking"] for row in by_relation] == [["y", "x"], ["a", "b", "c"]]
    assert made("link-prediction", "by-entity", inputs, [train])[0]["ranking"] == ["x", "z"]
    assert made("link-prediction", "by-questions", inputs)[0]["ranking"] == ["q"]
    assert made("link-prediction", "by-relation", inputs) == []


@pytest.mark.parametrize(("at_all", "each"), [(6, 2), (1, 1), (4_000_000, 3)])
def test_a_large_splits_rankings_are_shorter(monkeypatch: pytest.MonkeyPatch, at_all: int, each: int) -> None:
    monkeypatch.setattr(baselines, "MOST_RANKED", at_all)
    inputs = lines(*({"id": n, "question": [mention, "r", "?"]} for n, mention in enumerate("abc")))
    train = lines({"id": 1, "question": ["a", "r", "?"], "answers": ["x", "y", "z"], "filtered": []})
    for name in ("random", "by-relation"):
        assert [len(row["ranking"]) for row in made("link-prediction", name, inputs, [train])] == [each] * 3


def test_facts_of_public_gold_are_given_whatever_the_text_says() -> None:
    train = lines({"id": 1, "facts": [["a", "born in", "x"], ["b", "born in", "x"], ["c", "born in", "y"]]})
    inputs = lines({"id": 2, "text": "t", "subject": "a"}, {"id": 3, "text": "t", "subject": "new"})
    known = [row["facts"] for row in made("fact-extraction", "known-facts", inputs, [train])]
    assert known == [[["a", "born in", "x"]], []]
    common = [row["facts"] for row in made("fact-extraction", "commonest-facts", inputs, [train])]
    assert common == [[["a", "born in", "x"]], [["new", "born in", "x"]]]


def test_training_gold_is_read_whole_whatever_fold_is_asked_about() -> None:
    _, facts, inputs, train = fixture("knowledge-base-population")
    assert made("knowledge-base-population", "whole-passage", inputs, [train], options={"fold": "5"}, expects=facts)


def test_what_does_not_read_is_told() -> None:
    asked = {"task": "fact-checking", "baseline": "degree", "inputs_name": "inputs.jsonl"}
    report, _ = JOBS["baseline"]({"inputs": io.BytesIO(b'{"id": 1}\n')}, asked)
    assert (report["ok"], report["fault"]) == (False, "inputs")
    files = {"inputs": io.BytesIO(ASKED), "0": io.BytesIO(b"{}\n")}
    named = {"task": "fact-verification", "baseline": "majority", "train_names": ["train.jsonl"]}
    report, _ = JOBS["baseline"](files, asked | named)
    assert (report["ok"], report["fault"]) == (False, "gold")
    report, _ = JOBS["baseline"](files, asked | {"baseline": "clever"})
    assert (report["ok"], report["fault"]) == (False, "usage")


def test_the_command_writes_what_the_server_makes(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    inputs, train = tmp_path / "inputs.jsonl", tmp_path / "train.jsonl"
    inputs.write_bytes(ASKED)
    train.write_bytes(CLAIMS)
    words = ["run-baseline", "fact-verification", "claim-only", "--inputs", str(inputs)]
    assert main([*words, "--train", str(train)]) == 0
    written = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert written == made("fact-verification", "claim-only", ASKED, [CLAIMS])
    assert main(words) == 64
    assert b"it needs public gold" in capfdbinary.readouterr().err
    packed = tmp_path / "inputs.jsonl.gz"
    packed.write_bytes(gzip.compress(ASKED))
    assert main([*words[:-1], str(packed), "--train", str(train)]) == 0
    assert [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()] == written
    assert main(["run-baseline", "fact-verification"]) == 0
    assert b"claim-only: " in capfdbinary.readouterr().out
    assert main([*words[:2], "clever", *words[3:]]) == 64
    assert main(words[:3]) == 64
    capfdbinary.readouterr()
    for seed in ("-1", "x", "\u00b2", "1" * 5000):
        assert main([*words, "--train", str(train), "--seed", seed]) == 64
        assert b"--seed is" in capfdbinary.readouterr().err
    inputs.write_bytes(b"{}\n")
    assert main([*words, "--train", str(train)]) == 3
