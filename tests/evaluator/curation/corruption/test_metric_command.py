"""`audit metric`: a program's scores of corrupted texts, next to their known accuracy."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from evaluator.cli.main import main
from tests.support.scoring_runs import jsonl

GOLD = [
    {"id": "a", "text": "Ann was born on 1 May 1900.", "facts": [["Ann", "born", "1 May 1900"]]},
    {"id": "b", "text": "Bob was born on 2 May 1900 in Bath.", "facts": [["Bob", "born", "2 May 1900"]]},
    {"id": "c", "text": "Cyd sings.", "facts": []},
]
METRIC = """
import json, sys
for line in open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin:
    text = json.loads(line)
    print(json.dumps({"id": text["id"], "score": 0.5 + 0.5 * (text["generated"] == text["reference"])}))
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Begin of a command line: one text of two with facts is corrupted, one text has no facts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.jsonl").write_bytes(jsonl(GOLD))
    (tmp_path / "metric.py").write_text(METRIC)
    facts = {"a": [["Ann", "born", "9 June 1900"]], "b": GOLD[1]["facts"], "c": []}
    texts = {"a": "Ann was born on 9 June 1900.", "b": GOLD[1]["text"], "c": GOLD[2]["text"]}
    (tmp_path / "made").mkdir()
    names = ("c", "b", "a")  # lines are matched by id
    (tmp_path / "made/predictions.jsonl").write_bytes(jsonl({"id": name, "facts": facts[name]} for name in names))
    (tmp_path / "made/inputs.jsonl").write_bytes(jsonl({"id": name, "text": texts[name]} for name in names))
    return ["audit", "metric", "gold.jsonl", "made"]


@pytest.mark.parametrize("inputs", ["", " {inputs}"])
def test_scores_are_shown_with_the_known_accuracy(command, capsys, inputs):
    metric = f"{shlex.quote(sys.executable)} metric.py{inputs}"
    assert main([*command, "--metric", metric, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["corrupted"]
    assert row == {
        "corrupted": "made",
        "expected_accuracy": 0.5,
        "expected_fact_acc": 0.5,
        "mean_score": pytest.approx((0.5 + 1 + 1) / 3),
        "mean_score_of_unchanged_texts": 1.0,
        "spearman": pytest.approx(1.0),
    }


@pytest.mark.parametrize(
    ("metric", "status", "message"),
    [
        ("false", 64, '--metric is "false", which ended with status 1, expected 0'),
        ("no-such-program", 64, "which cannot be run: No such file or directory"),
        ("'", 64, "expected a command line: No closing quotation"),
        (" ", 64, "--metric is empty"),
        ('echo \'{"id": "a", "score": 1}\'', 2, "the metric's output"),
    ],
)
def test_a_program_that_fails_is_refused(command, capsys, metric, status, message):
    assert main([*command, "--metric", metric]) == status
    assert message in capsys.readouterr().err


def test_texts_are_needed(command, tmp_path, capsys):
    (tmp_path / "gold.jsonl").write_bytes(jsonl([{"id": "a", "facts": []}]))
    assert main([*command, "--metric", "false"]) == 3
    assert "gold.jsonl:1: the line has no text" in capsys.readouterr().err


def test_corrupted_texts_are_needed(command, tmp_path, capsys):
    lines = [{"id": "a", "text": "t"}, {"id": "b"}, {"id": "c", "text": "t"}]
    (tmp_path / "made/inputs.jsonl").write_bytes(jsonl(lines))
    assert main([*command, "--metric", f"{shlex.quote(sys.executable)} metric.py"]) == 3
    assert "made/inputs.jsonl:2: the line has no text" in capsys.readouterr().err
