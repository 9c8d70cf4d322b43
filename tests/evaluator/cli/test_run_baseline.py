"""`holdout-eval run-baseline` runs reference systems, and refuses files that they cannot use."""

import json
import sys
from pathlib import Path

import pytest

from evaluator.cli.main import main

CLAIMS = [("ann", "born in", "ulm"), ("bob", "born in", "rom")]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    inputs, graph = tmp_path / "inputs.jsonl", tmp_path / "graph.tsv"
    claims = [{"id": n, "subject": s, "relation": r, "object": o} for n, (s, r, o) in enumerate(CLAIMS)]
    inputs.write_text("".join(json.dumps(claim) + "\n" for claim in claims))
    graph.write_text("ann\tborn in\tulm\nann\tborn in\trom\n")
    return {"inputs": str(inputs), "graph": str(graph)}


def test_predictions_go_to_standard_output(files, capfdbinary) -> None:
    words = ["fact-checking", "popularity", "--inputs", files["inputs"], "--graph", files["graph"]]
    assert main(["run-baseline", *words]) == 0
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert lines == [{"id": 0, "score": 1.0}, {"id": 1, "score": 0.0}]


def test_one_list_names_baselines_and_systems(capsys) -> None:
    assert main(["run-baseline", "fact-checking"]) == 0
    text = capsys.readouterr().out
    assert "degree: how often" in text and "relation-frequency --graph: how often" in text
    assert "--option tokens=...:" in text
    assert main(["run-baseline", "metric-correlation"]) == 0
    assert "rouge-1: common words" in capsys.readouterr().out


def test_a_name_of_both_is_the_baseline_without_a_graph(files, capsys) -> None:
    assert main(["run-baseline", "fact-checking", "popularity", "--inputs", files["inputs"]]) == 64
    assert "it needs public gold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("relation-frequency", [], "--graph is missing"),
        ("degree", ["--graph", "GRAPH"], "degree does not use --graph"),
        ("clever", [], "expected one of: constant, "),
        ("popularity", ["--graph", "GRAPH", "--option", "x=1"], "unknown option"),
        ("popularity", ["--graph", "nothing.tsv"], "cannot read"),
        ("distmult", ["--graph", "GRAPH", "--option", "dim=10001"], "a whole number from 1 to 10000"),
    ],
)
def test_wrong_usage(files, capsys, name, words, message) -> None:
    words = [files["graph"] if word == "GRAPH" else word for word in words]
    assert main(["run-baseline", "fact-checking", name, "--inputs", files["inputs"], *words]) == 64
    assert message in capsys.readouterr().err


def test_an_invalid_graph_is_refused_with_its_line(files, capsys) -> None:
    Path(files["graph"]).write_text("ann\tborn in\tulm\nann\n")
    words = ["fact-checking", "popularity", "--inputs", files["inputs"], "--graph", files["graph"]]
    assert main(["run-baseline", *words]) == 3
    assert "graph.tsv:2: not a triple, found 1 column" in capsys.readouterr().err


def test_a_missing_package_is_reported_with_its_extra(files, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    words = ["fact-checking", "knowledge-linker", "--inputs", files["inputs"], "--graph", files["graph"]]
    assert main(["run-baseline", *words]) == 64
    message = capsys.readouterr().err
    assert "knowledge-linker needs the Python package SciPy" in message and "holdout-eval[baselines]" in message
