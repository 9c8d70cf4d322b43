"""`audit misses` and `audit miss-categories`: the sample holds misses only, and the table counts what was written."""

from __future__ import annotations

import csv
import json

import pytest

from evaluator.cli.main import main
from tests.support.scoring_runs import jsonl

GOLD = [
    {"id": k, "question": [f"s{k}", "r", "?"], "answers": [f"a{k}", f"b{k}"], "filtered": ["known"]} for k in range(30)
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Of 30 questions, 10 are answered at rank 1, 10 at rank 2, 9 not at all; the last has no ranking."""
    rankings = [
        ["known", f"b{k}", "x"] if k < 10 else ["x", "x", "known", f"a{k}"] if k < 20 else ["known", "y", "x"]
        for k in range(29)
    ]
    (tmp_path / "gold.jsonl").write_bytes(jsonl(GOLD))
    (tmp_path / "found.jsonl").write_bytes(jsonl({"id": k, "ranking": found} for k, found in enumerate(rankings)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def misses(folder, *options):
    assert main(["audit", "misses", "gold.jsonl", "found.jsonl", *options, "--output", "made"]) == 0
    with (folder / "made/misses.csv").open(newline="") as table:
        return list(csv.DictReader(table))


def test_every_miss_is_listed_with_what_was_predicted(folder, capsys):
    rows = misses(folder, "--hits", "2")
    assert [row["id:json"] for row in rows] == [str(k) for k in range(20, 30)]
    assert list(rows[0].values()) == ["20", "s20 | r | ?", "a20 | b20", "y | x", "not ranked", "unclassified"]
    assert rows[-1]["predicted"] == "(nothing)"
    shown = capsys.readouterr().out
    assert "10 of 30 questions have no answer among the first 2 mentions; 10 are sampled" in shown
    assert "warning: found.jsonl: 1 of 30 questions have no prediction" in shown


def test_ranks_are_filtered(folder):
    rows = misses(folder, "--hits", "1")
    assert [row["rank"] for row in rows] == ["2"] * 10 + ["not ranked"] * 10


def test_a_sample_depends_on_the_seed(folder, capsys):
    samples = []
    for seed in ("1", "1", "2"):
        assert main(["audit", "misses", "gold.jsonl", "found.jsonl", "--size", "5", "--seed", seed]) == 0
        assert "5 are sampled" in capsys.readouterr().out
        name = f"made{len(samples)}"
        options = ["--size", "5", "--seed", seed, "--output", name]
        assert main(["audit", "misses", "gold.jsonl", "found.jsonl", *options]) == 0
        samples.append((folder / name / "misses.jsonl").read_text())
    assert samples[0] == samples[1] != samples[2]
    assert all({json.loads(line)["id"] for line in text.splitlines()} <= set(range(20, 30)) for text in samples)


def test_categories_are_counted_from_the_table(folder, capsys):
    misses(folder, "--hits", "2")
    text = (folder / "made/misses.csv").read_text()
    for k, category in ((21, "wrong type"), (22, "wrong type"), (23, " related ")):
        text = text.replace(f"s{k} | r | ?,a{k} | b{k},y | x,not ranked,unclassified", f"q,a,p,,{category}")
    (folder / "made/misses.csv").write_text(text)
    capsys.readouterr()
    assert main(["audit", "miss-categories", "made/misses.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "misses": 10,
        "categories": [
            {"category": "unclassified", "misses": 7, "share": 0.7},
            {"category": "wrong type", "misses": 2, "share": 0.2},
            {"category": "related", "misses": 1, "share": 0.1},
        ],
    }
    assert main(["audit", "miss-categories", "made/misses.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["2", "20.0", "%", "wrong", "type"]
