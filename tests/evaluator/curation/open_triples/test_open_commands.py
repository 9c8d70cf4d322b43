"""`split open-evaluation`, `leakage`, `open-questions` and `audit leakage`, from files to files."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.main import main
from evaluator.curation.open_triples.triples import Dictionary, OpenTriple, read_triples

from .leakage_oracle import leaks, most_frequent

LEVELS = ("SIMPLE", "BASIC", "THOROUGH")


def words(draw: random.Random, least: int, most: int) -> str:
    vocabulary = [f"w{number}" for number in range(120)]
    weights = [1 / rank for rank in range(1, 121)]
    return " ".join(draw.choices(vocabulary, weights, k=draw.randint(least, most)))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """triples.tsv, and mentions.tsv, in which most mentions refer to one of a few entities."""
    draw = random.Random(7)
    names = [words(draw, 1, 3) for _ in range(150)]
    lines = [f"{draw.choice(names)}\t{words(draw, 1, 6)}\t{draw.choice(names)}\n" for _ in range(1500)]
    (tmp_path / "triples.tsv").write_text("".join(lines))
    means = {name: f"Q{draw.randrange(60)}" for name in dict.fromkeys(names) if draw.random() < 0.8}
    (tmp_path / "mentions.tsv").write_text("".join(f"{name}\t{entity}\n" for name, entity in means.items()))
    return tmp_path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def triples(path: Path) -> list[OpenTriple]:
    with path.open("rb") as stream:
        return read_triples(stream, path.name, Dictionary())


def sampled(files: Path, name: str = "drawn", seed: int = 3) -> Path:
    mentions = ("--mentions", files / "mentions.tsv")
    arguments = ("open-evaluation", files / "triples.tsv", *mentions, "--size", 20, "--seed", seed)
    assert run("split", *arguments, "--output", files / name) == 0
    return files / name


def test_the_three_flavours(files: Path) -> None:
    folder = sampled(files)
    assert contents(folder) == contents(sampled(files, "again"))
    assert contents(folder)["test.tsv"] != contents(sampled(files, "other", seed=4))["test.tsv"]
    test, linked, mention, all_ = (
        triples(folder / f"{name}.tsv")
        for name in ("test", "validation_linked", "validation_mention", "validation_all")
    )
    assert [len(part) for part in (test, linked, mention, all_)] == [20] * 4
    assert all(triple.linked and len(triple.relation.split()) >= 3 for triple in (*test, *linked))
    assert max(len(triple.subjects) for triple in test) > 1
    assert [triple[:3] for triple in mention] == [triple[:3] for triple in linked]
    assert {triple[3:] for triple in (*mention, *all_)} == {((), ())}
    assert len({triple[:3] for triple in (*test, *linked, *all_)}) == 60
    recipe = json.loads((folder / "recipe.json").read_text())
    assert (recipe["seed"], recipe["parameters"]["size"], recipe["parameters"]["tokens"]) == (3, 20, 3)
    assert [(item["role"], item["name"]) for item in recipe["inputs"]] == [
        ("mentions", "mentions.tsv"),
        ("triples", "triples.tsv"),
    ]


@pytest.mark.parametrize("compressed", [False, True])
def test_training_files_equal_those_of_brute_force(files: Path, compressed: bool) -> None:
    folder = sampled(files)
    training = files / "triples.tsv"
    lines = training.read_text().splitlines(keepends=True)
    if compressed:
        training = files / "triples.tsv.gz"
        training.write_bytes(gzip.compress("".join(lines).encode()))
    evaluation = [word for name in ("test", "validation_all") for word in ("--evaluation", folder / f"{name}.tsv")]
    levels = [word for level in LEVELS for word in ("--level", level.lower())]
    assert run("split", "remove-leakage", training, *evaluation, *levels, "--output", files / "clean") == 0
    evaluated = triples(folder / "test.tsv") + triples(folder / "validation_all.tsv")
    rows = [line.rstrip("\n").split("\t") for line in lines]
    stops = most_frequent(rows)
    report = json.loads((files / "clean" / "recipe.json").read_text())["report"]
    assert {*report["stop_words"]["mentions"], *report["stop_words"]["relations"]} == stops
    for level in LEVELS:
        remaining = [line for line, row in zip(lines, rows, strict=True) if not leaks(row, evaluated, level, stops)]
        assert (files / "clean" / f"train_{level.lower()}.tsv").read_text() == "".join(remaining)
        assert report["removed"][level] == len(lines) - len(remaining) > 0
    removed = [line.split("\t") for line in (files / "clean" / "removed.tsv").read_text().splitlines()]
    assert len(removed) == report["removed"]["THOROUGH"] == sum(report["by_rule"].values())
    removed_numbers = {int(number) for number, _ in removed}
    remaining_lines = [line for number, line in enumerate(lines, 1) if number not in removed_numbers]
    assert "".join(remaining_lines) == (files / "clean" / "train_thorough.tsv").read_text()


def test_an_audit_counts_what_a_split_removes(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sampled(files)
    arguments = ("remove-leakage", files / "triples.tsv", "--evaluation", folder / "test.tsv")
    capsys.readouterr()
    assert run("audit", "leakage", *arguments[1:], "--json") == 0
    audit_report = json.loads(capsys.readouterr().out)
    assert run("split", *arguments, "--output", files / "clean", "--json") == 0
    removed = json.loads(capsys.readouterr().out)
    assert audit_report["leaking"]["THOROUGH"] == removed["removed"]["THOROUGH"] > audit_report["leaking"]["BASIC"]
    assert sorted(contents(files / "clean")) == ["recipe.json", "removed.tsv", "train_thorough.tsv"]
    assert (
        run(
            "audit",
            "leakage",
            files / "clean" / "train_thorough.tsv",
            *arguments[2:],
            *stop_word_option(files, audit_report),
            "--json",
        )
        == 0
    )
    assert set(json.loads(capsys.readouterr().out)["by_rule"].values()) == {0}


def stop_word_option(files: Path, report: dict[str, Any]) -> tuple[str, Path]:
    """The same stop words; those of the remaining triples would differ."""
    path = files / "stops.txt"
    path.write_text("".join(f"{word.upper()}\n" for kind in report["stop_words"].values() for word in kind))
    return "--stop-words", path


def test_questions_of_sampled_triples_are_valid_gold(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sampled(files)
    mentions = ("--mentions", files / "mentions.tsv")
    evaluation = [folder / "test.tsv", folder / "validation_linked.tsv"]
    arguments = ("open-questions", *evaluation, "--known", files / "triples.tsv", *mentions)
    for name in ("gold", "again"):
        assert run("split", *arguments, "--output", files / name) == 0
    assert contents(files / "gold") == contents(files / "again")
    gold = [json.loads(line) for line in (files / "gold" / "test.jsonl").read_text().splitlines()]
    report = json.loads((files / "gold" / "recipe.json").read_text())["report"]
    assert len(gold) == report["files"]["test"]["questions"]
    assert [line["id"] for line in gold] == sorted(line["id"] for line in gold)
    assert all(line["answers"] and not set(line["answers"]) & set(line["filtered"]) for line in gold)
    question_set = {tuple(line["question"]) for line in gold}
    assert question_set >= {(t.subject, t.relation, "?") for t in triples(folder / "test.tsv")}
    rankings = [{"id": line["id"], "ranking": [*line["filtered"], line["answers"][-1]]} for line in gold]
    (files / "predictions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in rankings))
    capsys.readouterr()
    scored = ("score", "link-prediction", "--gold", files / "gold" / "test.jsonl", files / "predictions.jsonl")
    assert run(*scored, "--resamples", 0, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n_groups"] < result["n_units"] == len(gold)
    assert {s["value"] for s in result["scores"] if s["measure"] == "mrr"} == {1.0}


def test_no_question_is_asked_about_a_question_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test.tsv").write_text("?\tis the sign of\tdoubt\na\tis part of\tb\n")
    (tmp_path / "open.tsv").write_text("a\tis part of\tc\n")
    both = (tmp_path / "test.tsv", tmp_path / "open.tsv")
    assert run("split", "open-questions", *both, "--output", tmp_path / "gold", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["files"]["test"] == {
        "triples": 1,
        "questions": 2,
        "triples_with_the_mention_?": 1,
        "questions_over_1_MiB": 0,
    }
    assert {"by": "open", "of": "test", "questions": 1} in report["leaks"]


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (
            ("remove-leakage", "broken.tsv", "--evaluation", "triples.tsv"),
            3,
            "broken.tsv:2: not an open triple, found 2 columns",
        ),
        (
            ("remove-leakage", "triples.tsv", "--evaluation", "broken.tsv"),
            3,
            "broken.tsv:2: not an open triple, found 2 columns",
        ),
        (("remove-leakage", "none.tsv", "--evaluation", "triples.tsv"), 64, "cannot read "),
        (("remove-leakage", "triples.tsv"), 64, "--evaluation"),
        (
            ("remove-leakage", "triples.tsv", "--evaluation", "triples.tsv", "--level", "all"),
            64,
            "invalid choice: 'all'",
        ),
        (
            ("remove-leakage", "triples.tsv", "--evaluation", "triples.tsv", "--stop-words", "broken.tsv"),
            3,
            "broken.tsv:1: not a stop",
        ),
        (("open-evaluation", "triples.tsv", "--size", "0"), 64, 'is "0", expected a whole number, 1 or more'),
        (("open-evaluation", "triples.tsv", "--size", "20"), 64, "found 0 different triples"),
        (
            ("open-evaluation", "triples.tsv", "--mentions", "broken.tsv"),
            3,
            "broken.tsv:1: not a mention and an entity",
        ),
        (
            ("open-questions", "triples.tsv", "triples.tsv"),
            64,
            "is given twice, expected once",
        ),
        (("open-questions", "triples.tsv", "--known", "broken.tsv"), 3, "broken.tsv:2: not an open triple"),
    ],
)
def test_errors_are_reported_and_no_files_left(
    files: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    monkeypatch.chdir(files)
    Path("broken.tsv").write_text("a\tb\tc\nd\te\n")
    before = sorted(path.name for path in files.iterdir())
    assert run("split", *command, "--output", "out") == status
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in files.iterdir()) == before
