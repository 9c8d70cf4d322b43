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
        assert (report["measure"] != "") is (task.item_statistic != "")
        assert report["n"] == len(report["examples"]) == len(lines)
        for item, line in zip(report["examples"], lines, strict=True):
            given, answer = json.loads(item["input"]), json.loads(item["gold"])
            assert item["id"] == line[task.id_key] and given.keys().isdisjoint(task.gold_only)
            assert {**given, **answer} == {key: value for key, value in line.items() if key not in ("group", "slices")}
        answered = [line for item in report["examples"] for line in item["predictions"]]
        sent = [json.loads(line) for line in predictions.splitlines()]
        assert len(answered) == len(sent) and all(json.loads(line) in sent for line in answered)
        shares = [item["share"] for item in report["examples"]]
        n_rated += len(shares)
        assert (
            all(share is None for share in shares)
            if not report["measure"]
            else all(0 <= share <= 1 for share in shares)
        )
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
