"""The job that lists the items of a gold with predictions and results, in every task."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from evaluator.jobs import JOBS
from evaluator.tasks.registry import TASKS
from tests.conftest import ROOT

NAMES = {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
GOLD = ROOT / "fixtures/mirror-claims/splits/dev.jsonl"
PREDICTIONS = ROOT / "fixtures/mirror-claims/predictions/dev/claim-only.jsonl"


def listed(task: str, gold: bytes, predictions: bytes, **arguments: Any) -> dict[str, Any]:
    files = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)}
    report, attachment = JOBS["examples"](files, {"task": task, **NAMES, **arguments})
    assert attachment == b""
    return report


@pytest.mark.parametrize("name", TASKS.built_in)
def test_every_task_lists_each_gold_line_with_its_predictions(name: str) -> None:
    task, n_rated = TASKS[name], 0
    for gold, predictions in task.samples:
        report = listed(name, gold, predictions)
        lines = [json.loads(line) for line in gold.splitlines()]
        if not report["ok"]:
            assert report["fault"] == "predictions"
            continue
        assert report["measure"] in {measure.name for measure in task.measures} and report["right_if"]
        assert report["n"] == len(report["examples"]) == len(lines)
        for item, line in zip(report["examples"], lines, strict=True):
            given, answer = json.loads(item["input"]), json.loads(item["gold"])
            assert item["id"] == line[task.id_key] and given.keys().isdisjoint(task.gold_only)
            for whole, part, other in zip(
                *(side.pop(task.input_parts, []) for side in (line, given, answer)), strict=True
            ):
                assert {**part, **other} == whole and part.keys().isdisjoint(task.gold_only)
            assert {**given, **answer} == {key: value for key, value in line.items() if key not in ("group", "slices")}
        answered = [line for item in report["examples"] for line in item["predictions"]]
        sent = [json.loads(line) for line in predictions.splitlines()]
        assert len(answered) == len(sent) and all(json.loads(line) in sent for line in answered)
        shares = [item["share"] for item in report["examples"]]
        n_rated += sum(share is not None for share in shares)
        assert all(share is None or 0 <= share <= 1 for share in shares)
    assert n_rated > 0


def test_the_shares_average_to_the_measure_and_filters_select() -> None:
    gold, predictions = GOLD.read_bytes(), PREDICTIONS.read_bytes()
    whole = listed("fact-verification", gold, predictions)
    scored, _ = JOBS["score"](
        {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)},
        {"task": "fact-verification", **NAMES, "resamples": 0},
    )
    value = {row["measure"]: row["value"] for row in scored["result"]["scores"] if not row["slice"]}[whole["measure"]]
    shares = [item["share"] for item in whole["examples"]]
    assert sum(shares) / len(shares) == pytest.approx(value)
    wrong = listed("fact-verification", gold, predictions, result="wrong", limit=3, offset=1)
    assert wrong["n"] == shares.count(0) and len(wrong["examples"]) == 3
    assert wrong["examples"] == [item for item in whole["examples"] if item["share"] == 0][1:4]
    assert sum(whole["cells"].values()) == len(shares)
    for cell, n in whole["cells"].items():
        found = listed("fact-verification", gold, predictions, cell=cell)
        assert found["n"] == n and {item["share"] == 1 for item in found["examples"]} == {
            len(set(cell.split(" → "))) == 1
        }
    (values,) = [whole["dimensions"]["origin"]]
    sizes = [listed("fact-verification", gold, predictions, dimension="origin", value=value)["n"] for value in values]
    assert len(values) > 1 and sum(sizes) == len(shares)


def results(task: str, gold: list[dict[str, Any]], predictions: list[dict[str, Any]], **arguments: Any) -> list[Any]:
    """Return (id, share, values, cell) of each item."""
    files = (b"".join(json.dumps(line).encode() + b"\n" for line in lines) for lines in (gold, predictions))
    report = listed(task, *files, **arguments)
    assert report["ok"], report
    return [(item["id"], item["share"], item["values"], item["cell"]) for item in report["examples"]]


def test_questions_have_the_rank_of_their_first_answer() -> None:
    mentions = [f"m{number}" for number in range(60)]
    gold = [
        {"id": number, "question": ["a", "r", "?"], "answers": [answer], "filtered": ["m0"]}
        for number, answer in enumerate(("m1", "m49", "x"))
    ]
    rows = results("link-prediction", gold, [{"id": number, "ranking": mentions} for number in range(3)])
    title = "Rank of the first answer"
    assert [row[1:3] for row in rows] == [(1, {title: 1}), (pytest.approx(1 / 49), {title: 49}), (0, {title: None})]
    assert [row[0] for row in results("link-prediction", gold, [{"id": 1, "ranking": ["m1"]}], order="worst")] == [
        0,
        1,
        2,
    ]


def test_claims_are_right_where_their_score_puts_them_among_those_with_their_label() -> None:
    gold = [
        {"id": key, "subject": key, "relation": relation, "object": "o", "label": label}
        for key, relation, label in (("a", "p", True), ("b", "p", True), ("c", "q", False), ("d", "q", False))
    ]
    predictions = [{"id": key, "score": score} for key, score in (("a", 0.9), ("b", 0.1), ("c", 0.5), ("d", -1.0))]
    rows = {row[0]: row[1:] for row in results("fact-checking", gold, predictions)}
    ranks = {key: list(row[1].values()) for key, row in rows.items()}
    assert ranks == {"a": [1, 1, 2, 0], "b": [3, 1, 2, -1], "c": [2, 3, 4, 1], "d": [4, 3, 4, 0]}
    assert {key: (row[0], row[2]) for key, row in rows.items()} == {
        "a": (1, "TRUE → TRUE"),
        "b": (pytest.approx(2 / 3), "TRUE → FALSE"),
        "c": (pytest.approx(2 / 3), "FALSE → TRUE"),
        "d": (1, "FALSE → FALSE"),
    }
    # Results on a slice are computed on the slice, as its AUROC is: all claims of p are true.
    assert [row[:2] for row in results("fact-checking", gold, predictions, dimension="relation", value="p")] == [
        ("a", 1),
        ("b", 1),
    ]
    equal = results("fact-checking", gold, [{"id": key, "score": 0.5} for key in "abcd"])
    assert [row[3] for row in equal] == ["TRUE → FALSE"] * 2 + ["FALSE → TRUE"] * 2


def test_texts_have_the_distance_of_their_ranks() -> None:
    gold = [{"id": key, "human": human} for key, human in (("a", 5), ("b", 3), ("c", 3), ("d", 1))]
    predictions = [{"id": key, "score": score} for key, score in (("a", 0.1), ("b", 0.8), ("c", 0.7), ("d", 0.2))]
    rows = results("metric-correlation", gold, predictions, order="worst")
    assert [(row[0], list(row[2].values())) for row in rows] == [
        ("a", [4, 1, 1, -3]),
        ("b", [1, 2, 3, 1]),
        ("d", [3, 4, 4, 1]),
        ("c", [2, 2, 3, 0]),
    ]
    assert [row[1] for row in rows] == pytest.approx([0, 2 / 3, 2 / 3, 1])


def test_texts_and_documents_count_their_facts_and_those_of_a_slice() -> None:
    facts = {"1": [["a", "born", "x"], ["a", "child", "y"]], "2": [], "3": []}
    answers = {"1": [["a", "born", "x"], ["a", "born", "z"]], "2": [["b", "born", "x"]]}
    gold, predictions = ([{"id": key, "facts": value} for key, value in side.items()] for side in (facts, answers))
    rows = results("fact-extraction", gold, predictions)
    assert [(row[1], list(row[2].values())) for row in rows] == [(0.5, [1, 1, 1]), (0, [0, 1, 0]), (None, [0, 0, 0])]
    child = results("fact-extraction", gold, predictions, dimension="relation", value="child")
    assert [(row[0], row[1], list(row[2].values())) for row in child] == [("1", 0, [0, 0, 1])]
    (document, *_), (answer, *_) = (file.splitlines() for file in TASKS["knowledge-base-population"].samples[0])
    elsewhere = answer.replace(b"a/Q2/", b"a/Q9")
    for predicted, result in ((answer, (1, [1, 0, 0])), (elsewhere, (0, [0, 1, 1]))):
        report = listed("knowledge-base-population", document + b"\n", predicted)
        (item,) = report["examples"]
        assert (item["share"], list(item["values"].values())) == result
        assert item["slices"] == {"property": ["KNOWS"], "kind": ["true"]}
        (filtered,) = listed(
            "knowledge-base-population", document + b"\n", predicted, dimension="property", value="KNOWS"
        )["examples"]
        assert filtered == item
