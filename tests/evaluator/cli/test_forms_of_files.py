"""Each command reads each form of a curator's file and says the same of it, or names the forms that it reads."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.curation import AUDITS, SPLITS
from evaluator.cli.main import main
from evaluator.exit_codes import BAD_GOLD, WRONG_USAGE
from evaluator.jsonl.tables import FORMATS, write_table
from evaluator.tasks.registry import TASKS
from tests.support.scoring_runs import jsonl

FORMS = ("jsonl", "jsonl.gz", "csv.gz", *FORMATS)
CLAIMS = [
    {
        "id": f"c{k}",
        "claim": f"it did not {'rain' if k % 3 else 'snow'} in {k % 7}",
        "evidence_text": f"weather of {k}",
        "label": "REFUTES" if k % 4 else "SUPPORTS",
        "group": f"g{k // 4}",
        "slices": {"origin": ("original", "generated")[k % 2]},
    }
    for k in range(40)
]
CORRECTED = [*CLAIMS[1:], {**CLAIMS[0], "label": "REFUTES"}]
ANSWERS = [{"id": row["id"], "predicted_label": "REFUTES"} for row in CLAIMS]
OTHERS = [{"id": row["id"], "predicted_label": "SUPPORTS"} for row in CLAIMS]
INPUTS = [{"id": row["id"], "claim": row["claim"], "evidence_text": row["evidence_text"]} for row in CLAIMS]
CONTRARIES = [{"id": row["id"], "claim": "c", "evidence_text": "e"} for row in CLAIMS]
ORIGINALS = [{**row, "label": "SUPPORTS"} for row in INPUTS]
JUDGED = [{"id": f"c{k}", "annotator": who, "label": "yes"} for k in range(4) for who in ("a", "b", "c")]
CROSSED = [
    {
        "id": f"{k}{claim}{sentence}",
        "claim": f"{k} is {claim}",
        "evidence_text": f"{k} has {sentence}",
        "label": "SUPPORTS" if claim == sentence else "REFUTES",
        "group": f"g{k}",
        "slices": {"origin": "original" if claim == sentence == "a" else "generated"},
    }
    for k in range(3)
    for claim in "ab"
    for sentence in "ab"
]
TEXTS = [
    {"id": f"t{k}", "text": f"In 19{k}0, Ann met Bob.", "facts": [["Ann", "met in", f"19{k}0"]], "subject": "Ann"}
    for k in range(5)
]
MENTIONED = [
    {"id": row["id"], "mentions": [{"name": "Ann", "entity": "Q1"}, {"name": "Bob", "entity": "Q2"}]} for row in TEXTS
]
LINKS = [{"id": f"l{k}", "question": ["a", "r", "?"], "answers": [f"b{k}"], "filtered": []} for k in range(5)]
RANKINGS = [{"id": row["id"], "ranking": ["x", "y"]} for row in LINKS]
FILES: dict[str, list[dict[str, Any]]] = {
    "gold": CLAIMS, "corrected": CORRECTED, "inputs": INPUTS, "originals": ORIGINALS, "contraries": CONTRARIES,
    "judged": JUDGED, "texts": TEXTS, "mentioned": MENTIONED, "links": LINKS, "crossed": CROSSED,
}  # fmt: skip
COMMANDS = {
    "score": "score fact-verification --gold {gold} answers.jsonl --resamples 10",
    "compare": "compare fact-verification --gold {gold} answers.jsonl others.jsonl --resamples 10",
    "validate": "validate fact-verification --inputs {inputs} answers.jsonl",
    "run-baseline": "run-baseline fact-verification majority --inputs {inputs} --train {gold}",
    "run-baseline of a system": "run-baseline fact-verification claim-only --inputs {inputs} --train {gold}",
    "split folds": "split folds {gold} --by group --output made",
    "split holdout": "split holdout {gold} --stratify label --output made",
    "split public-private": "split public-private {gold} --output made",
    "split symmetric": "split symmetric {originals} {contraries} --salt salted-with-salt --output made",
    "split adjudicate": "split adjudicate {judged} --output made",
    "split reweight": "split reweight {gold} --lambda .5 --output made",
    "split corrupt": "split corrupt {texts} --kind dates --output made",
    "split label-distantly": "split label-distantly {texts} --mentions {mentioned} --graph graph.tsv --output made",
    "audit split": "audit split fact-verification --gold {gold} --inputs {inputs}",
    "audit disclosure": "audit disclosure fact-verification --gold {gold} --quota 3 --seeds 1",
    "audit symmetric": "audit symmetric {crossed}",
    "audit cues": "audit cues {gold}",
    "audit diff-gold": "audit diff-gold fact-verification {gold} {corrected}",
    "audit misses": "audit misses {links} rankings.jsonl",
}
NO_GOLD = {
    "split published-symmetric", "split remove-leakage", "split open-evaluation", "split open-questions",
    "split scenarios", "audit leakage", "audit graph", "audit metric", "audit miss-categories",
}  # fmt: skip
"""Subcommands that read files in layouts of their own, which are no gold, inputs or annotations."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    for name, rows in FILES.items():
        lines = jsonl(rows)
        (folder / f"{name}.jsonl").write_bytes(lines)
        for kind in FORMATS:
            (folder / f"{name}.{kind}").write_bytes(write_table(lines.splitlines(), kind))
        for kind in ("jsonl", "csv"):
            (folder / f"{name}.{kind}.gz").write_bytes(gzip.compress((folder / f"{name}.{kind}").read_bytes()))
    for name, rows in (("answers", ANSWERS), ("others", OTHERS), ("rankings", RANKINGS)):
        (folder / f"{name}.jsonl").write_bytes(jsonl(rows))
    (folder / "graph.tsv").write_text("Q1\tmet\tQ2\n")
    return folder


def said(command: str, form: str, capsys: pytest.CaptureFixture[str], made: Path) -> tuple[int, Any]:
    """Return exit status and output of a command on files of a form, without the files' names and row numbers."""
    arguments = command.format(**{name: f"{name}.{form}" for name in FILES}).replace("made", str(made)).split()
    is_json = arguments[0] != "run-baseline"
    status = main([*arguments, *(["--json"] if is_json else [])])
    output = capsys.readouterr()
    assert "Traceback" not in output.err and "internal" not in output.err
    text = output.out.replace(f".{form}", ".jsonl")
    report = json.loads(text) if is_json else text
    return status, with_lines(report) if form.removesuffix(".gz") in FORMATS else report


def with_lines(report: Any, key: str = "") -> Any:
    """Return a report about a table with the numbers of lines in JSON Lines instead of rows, which are one more."""
    if isinstance(report, list):
        return [with_lines(value, f"{key}[]") for value in report]
    if isinstance(report, dict):
        return {name: with_lines(value, name) for name, value in report.items()}
    if isinstance(report, str):
        return re.sub(r"in row (\d+)", lambda match: f"on line {int(match[1]) - 1}", report)
    return report - 1 if key in ("line", "lines[]") and isinstance(report, int) else report


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_the_same_of_each_form(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    expected = said(COMMANDS[name], "jsonl", capsys, tmp_path / "jsonl")
    assert expected[0] in (0, 1)
    for form in FORMS[1:]:
        assert said(COMMANDS[name], form, capsys, tmp_path / form) == expected, form


def test_every_subcommand_is_tried() -> None:
    every = {f"split {one.name}" for one in SPLITS} | {f"audit {one.name}" for one in AUDITS}
    assert every == NO_GOLD | {name for name in COMMANDS if name.partition(" ")[0] in ("split", "audit")}


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_is_no_gold_is_refused_in_one_sentence(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Predictions, the inputs of a container and a graph are no tables: the command says what they are expected in."""
    monkeypatch.chdir(folder)
    for command, status in (
        (f"score fact-verification --gold gold.jsonl inputs.{form}", 2),
        (f"run system --task fact-verification --inputs inputs.{form}", WRONG_USAGE),
        (f"audit graph gold.{form}", BAD_GOLD),
    ):
        assert main(command.split()) == status, command
        error = capsys.readouterr().err
        assert len([line for line in error.splitlines() if "expected" in line]) == 1, error


@pytest.mark.parametrize("task", TASKS.built_in)
def test_gold_of_each_task_is_compared_with_itself_in_each_form(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = TASKS[task].samples[0][0]
    Path("gold.jsonl").write_bytes(lines)
    for form in FORMATS:
        Path(f"gold.{form}").write_bytes(write_table(lines.splitlines(), form))
        assert main(["audit", "diff-gold", task, "gold.jsonl", f"gold.{form}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["n_changed"] == 0
