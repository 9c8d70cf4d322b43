"""The example package of docs/examples: a seventh task that is installed, used on the command line, and hosted.

Holdout itself is unchanged.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, f1_score

from tests.support import schema_template
from tests.support.installed_packages import EXAMPLE, ROOT, install, run

TASK = "text-classification"
FIXTURE = EXAMPLE / "fixture"
GOLD, TRAIN, INPUTS, PREDICTIONS = (FIXTURE / f"{name}.jsonl" for name in ("test", "train", "inputs", "predictions"))


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package is installed."""
    before = _changes()
    target = tmp_path_factory.mktemp("site")
    install(EXAMPLE, tmp_path_factory.mktemp("source"), target)
    assert _changes() == before
    return target


def _changes() -> str:
    if not (ROOT / ".git").exists():  # a copy without git history
        return ""
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], float]:
    """Returns scikit-learn's values for the fixture, by measure and class."""
    answers = {line["id"]: line["label"] for line in read(PREDICTIONS)}
    labels = [line["label"] for line in read(GOLD)]
    predicted = [answers[line["id"]] for line in read(GOLD)]
    classes = sorted(set(labels))
    scores = {
        ("accuracy", ""): accuracy_score(labels, predicted),
        ("macro_f1", ""): f1_score(labels, predicted, average="macro"),
        ("f1", ""): f1_score(labels, predicted, average="micro"),
    }
    of_classes = f1_score(labels, predicted, average=None, labels=classes)
    return scores | {("f1", name): value for name, value in zip(classes, of_classes, strict=True)}


def test_the_command_line_uses_the_task(target: Path, expected: dict[tuple[str, str], float]) -> None:
    listed = run(target, "-m", "evaluator", "tasks", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert [line["task"] for line in json.loads(listed.stdout)][6:] == [TASK]

    valid = run(target, "-m", "evaluator", "validate", TASK, "--inputs", INPUTS, PREDICTIONS)
    assert valid.returncode == 0 and "120 lines, no problems" in valid.stdout

    scored = run(target, "-m", "evaluator", "score", TASK, "--gold", GOLD, PREDICTIONS, "--json")
    scores = json.loads(scored.stdout)["scores"]
    scores_by_class = {
        (one["measure"], one["slice"].get("label", "")): one["value"] for one in scores if "source" not in one["slice"]
    }
    assert {key: scores_by_class[key] for key in expected} == pytest.approx(expected, abs=1e-12)
    assert all(one["low"] < one["value"] <= one["high"] for one in scores if not one["slice"])
    assert {one["slice"]["source"] for one in scores if "source" in one["slice"]} == {"letter", "diary"}

    bad = target / "bad.jsonl"
    bad.write_text(PREDICTIONS.read_text().replace("garden", "gardening"), encoding="utf-8")
    refused = run(target, "-m", "evaluator", "score", TASK, "--gold", GOLD, bad)
    assert refused.returncode == 2 and 'unknown label, found "gardening"' in refused.stderr


def test_the_commands_of_its_readme_run(target: Path) -> None:
    """The site's own command needs a running site; `test_the_site_hosts_it` does the same."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    (fixture,) = re.findall(r"(?m)^fixture=(.+)$", text)
    commands = re.findall(r"(?m)^\.venv/bin/python (-m evaluator .+)$", text)
    assert len(commands) > 4
    for command in commands:
        done = run(target, *shlex.split(command.replace("$fixture", fixture)))
        assert done.returncode == 0 and done.stdout, (command, done.stderr)


def test_audits_use_its_columns_checks_and_baselines(target: Path, tmp_path: Path) -> None:
    lines = read(GOLD)
    lines[0]["text"] = " "
    lines[1]["label"] = "gardn"
    lines[3] |= {"text": lines[2]["text"], "label": "garden" if lines[2]["label"] != "garden" else "travel"}
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    audited = run(target, "-m", "evaluator", "audit", "split", TASK, "--gold", gold, "--train", TRAIN, "--json")
    report = json.loads(audited.stdout)
    codes = {finding["code"]: finding for finding in report["findings"]}
    assert audited.returncode == 1, audited.stderr
    assert codes["empty-text"]["where"]["line"] == 1 and codes["empty-text"]["severity"] == "error"
    assert codes["rare-label"]["where"]["line"] == 2
    assert codes["duplicates-disagree"]["severity"] == "error"
    assert report["balance"][0]["labels"]["gardn"] == 1
    assert [row["system"] for row in report["trivial"]] == ["majority", "bag-of-words"]
    assert "trivial-system" in codes
    assert report["cues"]["split"].keys() == {"garden", "gardn", "kitchen", "music", "travel"}


def test_baselines_are_scored_by_the_task(target: Path, tmp_path: Path) -> None:
    values = {}
    for name in ("majority", "random", "bag-of-words"):
        arguments = ["-m", "evaluator", "run-baseline", TASK, name, "--inputs", INPUTS, "--train", TRAIN]
        baseline = run(target, *arguments)
        assert baseline.returncode == 0 and baseline.stdout == run(target, *arguments).stdout
        answers = tmp_path / f"{name}.jsonl"
        answers.write_text(baseline.stdout, encoding="utf-8")
        scored = run(target, "-m", "evaluator", "score", TASK, "--gold", GOLD, answers, "--json", "--resamples", "0")
        values[name] = json.loads(scored.stdout)["scores"][0]["value"]
    assert values["random"] < values["majority"] < values["bag-of-words"]


def test_the_site_hosts_it(target: Path, tmp_path: Path, expected: dict[tuple[str, str], float]) -> None:
    before = _changes()
    schema_template.copy_to(tmp_path / "holdout.sqlite3")
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings", "HOLDOUT_DATA": str(tmp_path)}
    hosted = run(target, "-m", "tests.support.workers.hosted_example", FIXTURE, PREDICTIONS, **environment)
    assert hosted.returncode == 0, hosted.stderr
    site = json.loads(hosted.stdout.splitlines()[-1])
    assert (site["state"], site["problems"], site["checks"]) == ("done", [], [])
    assert site["choices"][6:] == [TASK]
    assert set(site["pages"].values()) == {200}
    scores = {(measure, key): value for measure, key, value, *_ in site["scores"]}
    keys = {name: f'{{"label":"{name}"}}' if name else "" for _, name in expected}
    assert {key: scores[key[0], keys[key[1]]] for key in expected} == pytest.approx(expected, abs=1e-11)
    intervals = [(low, high) for _, key, _, low, high in site["scores"] if not key]
    assert intervals and all(low is not None and low < high for low, high in intervals)
    # A new phase on hidden gold is a ladder, which shows steps.
    shown = re.search(r"Bernoulli\s≥\s(0\.\d+)", site["board"])
    assert shown and 0.5 < float(shown[1]) <= expected["accuracy", ""]
    assert _changes() == before
