"""Sample submissions and the format of predictions for a certain gold, for every task."""

from __future__ import annotations

import io
import json

import pytest

from evaluator.tasks.registry import TASKS

CASES = [(name, gold) for name, task in TASKS.items() for gold, _ in task.samples]


@pytest.mark.parametrize(("name", "gold_bytes"), CASES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CASES)])
def test_a_sample_for_each_input_is_a_valid_file(name: str, gold_bytes: bytes) -> None:
    task = TASKS[name]
    options = task.parse_options({})
    gold = task.read_gold(io.BytesIO(gold_bytes), "gold.jsonl", options)
    facts, inputs = json.loads(json.dumps(task.facts(gold))), task.public_inputs(gold)
    lines = [task.sample_answer(json.loads(line), facts) for line in inputs.splitlines()]
    assert len(lines) >= 1 and None not in lines
    predictions = "".join(json.dumps(line) + "\n" for line in lines).encode()
    known = task.read_inputs(io.BytesIO(inputs), "inputs.jsonl", options, facts)
    for validation_data in (known, task.validation_data(gold)):
        answers = task.read_predictions(io.BytesIO(predictions), "sample.jsonl", validation_data, options)
        assert answers.n_lines == len(lines)
        assert answers.warnings == []


def test_the_format_names_only_what_the_gold_has() -> None:
    task = TASKS["fact-verification"]
    plain = task.prediction_format_for({"evidence": "none"}, {"label": ["SUPPORTS", "REFUTES"]})
    assert "SUPPORTS or REFUTES" in plain
    assert "NOT ENOUGH INFO" not in plain and "evidence" not in plain
    full = task.prediction_format_for({"evidence": "all"}, {"label": ["NOT ENOUGH INFO", "REFUTES", "SUPPORTS"]})
    assert "SUPPORTS or REFUTES or NOT ENOUGH INFO" in full and "predicted_evidence" in full
    other = TASKS["link-prediction"]
    assert other.prediction_format_for({}, {}) == other.prediction_format
