"""Files are checked in blocks; the results and problems are those of checking every line by itself."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from evaluator.errors import FileError
from evaluator.jsonl import reader
from evaluator.jsonl.ids import AnswerRegister, IdRegister
from evaluator.tasks.registry import TASKS

N = 60
FACTS = [["s", "r", "o"], ["s", "q", "p"]]
LINES: dict[str, tuple[Any, Any]] = {
    "fact-verification": (
        lambda i: {"claim": f"claim {i}", "label": "SUPPORTS"} | ({"evidence": []} if i % 9 == 0 else {}),
        lambda i: {"predicted_label": "refutes"} | ({"predicted_evidence": [["P", i]]} if i % 9 in (0, 4) else {}),
    ),
    "fact-checking": (
        lambda i: {"subject": "s", "relation": "r", "object": f"o{i}", "label": i % 2 == 0},
        lambda i: {"score": i / 7},
    ),
    "metric-correlation": (lambda i: {"human": i * 0.5, "system": "a"}, lambda i: {"score": -i}),
    "link-prediction": (
        lambda i: {"question": ["s", "r", "?"], "answers": [f"o{i}"], "filtered": ["p"]},
        lambda i: {"ranking": ["p", f"o{i}"]},
    ),
    "fact-extraction": (lambda i: {"facts": FACTS, "text": "t"}, lambda i: {"facts": FACTS[i % 2 :]}),
}
FAULTS: dict[str, Any] = {
    "duplicate id": lambda line: {**line, "id": "id 3"},
    "unknown id": lambda line: {**line, "id": "nobody"},
    "another type": lambda line: {**line, "id": 5},
    "unknown key": lambda line: {**line, "remark": {"a": 1}},
    "missing key": lambda line: {"id": line["id"]},
    "bad label": lambda line: line | {key: "MAYBE" for key in line if "label" in key},
    "no evidence": lambda line: {key: value for key, value in line.items() if "evidence" not in key},
    "long ranking": lambda line: {**line, "ranking": ["m"] * 1001},
    "no question": lambda line: {**line, "question": ["a", "b", "c"]},
    "declares a group": lambda line: {**line, "group": "g"},
}


def read(task: Any, gold_file: bytes, prediction_file: bytes) -> list[Any]:
    """Return the columns of the gold, the ids of the inputs and the columns of the predictions, or their problems."""
    options = task.parse_options({})
    gold = problems_or(lambda: task.read_gold(io.BytesIO(gold_file), "g", options))
    inputs = io.BytesIO(inputs_of(gold_file))
    known = problems_or(lambda: task.read_inputs(inputs, "i", options, {"evidence": "some"}))
    results = [columns(gold), list(known.index_of) if hasattr(known, "index_of") else known]
    if not isinstance(gold, list):
        known = task.validation_data(gold)
        predictions = io.BytesIO(prediction_file)
        results.append(columns(problems_or(lambda: task.read_predictions(predictions, "p", known, options))))
    return results


def problems_or(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except FileError as error:
        return [*map(str, error.problems), error.more]


def inputs_of(gold: bytes) -> bytes:
    keys = ("id", "claim", "subject", "relation", "object", "question", "text")
    lines = [json.loads(line) for line in gold.splitlines()]
    return jsonl([{key: line[key] for key in keys if key in line} for line in lines])


def columns(value: Any) -> Any:
    """Return what the reader keeps: attribute -> its value as text, also of objects in it. Lists are problems."""
    if isinstance(value, list):
        return value
    kept = {name: column for name, column in vars(value).items() if name not in {"known", "_gold"}}
    for name, column in kept.items():
        if isinstance(column, Iterable):
            kept[name] = repr(list(column))
        else:
            kept[name] = columns(column) if hasattr(column, "__dict__") else repr(column)
    return kept


def jsonl(lines: list[Any]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("fault", [None, *FAULTS])
@pytest.mark.parametrize("name", LINES)
def test_blocks_and_single_lines_agree(name: str, fault: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, (gold_line, prediction_line) = random.Random(name), LINES[name]
    golds = [{"id": f"id {i}"} | gold_line(i) for i in range(N)]
    predictions = [{"id": f"id {i}"} | prediction_line(i) for i in draw.sample(range(N), N)]
    hurt_golds, hurt_predictions = list(golds), list(predictions)
    for lines in (hurt_golds, hurt_predictions):
        for index in draw.sample(range(1, N), 7) if fault else ():
            lines[index] = FAULTS[fault or ""](lines[index])
    files = [(golds, predictions), (hurt_golds, predictions), (golds, hurt_predictions), (golds, hurt_predictions[:50])]
    monkeypatch.setattr(reader, "_BLOCK", 300)  # a few lines: blocks with and without a fault take turns
    in_blocks = [read(TASKS[name], jsonl(gold), jsonl(predicted)) for gold, predicted in files]
    monkeypatch.setattr(IdRegister, "add_all", lambda *_: False)
    monkeypatch.setattr(AnswerRegister, "answer_all", lambda *_: None)
    line_by_line = [read(TASKS[name], jsonl(gold), jsonl(predicted)) for gold, predicted in files]
    assert in_blocks == line_by_line
    assert [type(result) for result in in_blocks[0]] == [dict, list, dict]
