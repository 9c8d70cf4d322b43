"""Sample submissions and the format of predictions for a certain gold, for every task."""

from __future__ import annotations

import io
import json

import pytest

from evaluator.errors import PredictionError
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


def test_the_format_and_the_message_name_the_same_labels() -> None:
    """Both name all labels that are accepted; the format also says which of them the gold does not have."""
    task = TASKS["fact-verification"]
    plain = task.prediction_format_for({"evidence": "none"}, {"label": ["SUPPORTS", "REFUTES"]})
    assert "no claim here is NOT ENOUGH INFO" in plain and "evidence" not in plain
    full = task.prediction_format_for({"evidence": "all"}, {"label": ["NOT ENOUGH INFO", "REFUTES", "SUPPORTS"]})
    assert "no claim here" not in full and "predicted_evidence" in full
    known = task.read_inputs(io.BytesIO(b'{"id": 1, "claim": "c"}'), "inputs.jsonl", {}, {"evidence": "none"})
    wrong = io.BytesIO(b'{"id": 1, "predicted_label": "MAYBE"}')
    with pytest.raises(PredictionError) as refusal:
        task.read_predictions(wrong, "p.jsonl", known, task.parse_options({}))
    expected = refusal.value.problems[0].expected
    assert expected in plain and expected in full and expected in task.prediction_format
    other = TASKS["link-prediction"]
    assert other.prediction_format_for({}, {}) == other.prediction_format
