"""The relation classifiers and the metrics that use them, on invented lives."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import FileError, UsageError
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.registry import systems_of
from evaluator.reference_systems.texts import fact_accuracy as fact_accuracy_module
from evaluator.reference_systems.texts.fact_accuracy import fact_accuracy
from evaluator.reference_systems.texts.mentions import tokenize
from evaluator.reference_systems.texts.relation_classifier import _occurrences
from tests.evaluator.reference_systems.texts.test_knowledge_net import PEOPLE, TOWNS, write

pytest.importorskip("sklearn")
FACTS, METRICS = "fact-extraction", "metric-correlation"
BORN, HOME, DAY = "place of birth", "residence", "date of birth"


def train(folder: Path) -> Path:
    lines = []
    for person in PEOPLE:
        for town, home in zip(TOWNS, TOWNS[3:], strict=False):
            n = len(lines) + 1
            later = "Later he lived" if n % 2 else "Later lived"
            text = f"{person} was born in {town} on May {n}, 1901. {later} in {home}. The town of Bern grew."
            facts = [(person, BORN, town), (person, DAY, f"{n} May 1901"), (person, HOME, home)]
            lines.append({"id": n, "text": text, "subject": person, "facts": facts})
    return write(folder / "train", lines[:19])


def run(folder: Path, task: str, name: str, inputs: list[dict], seed: int = 0) -> list[dict]:
    files = {INPUTS: [write(folder / "inputs", inputs)], "train": [train(folder)]}
    system = systems_of(task)[name]
    return list(system.predict(system.job(task, files, {}, seed)))


@pytest.mark.parametrize("name", ["relation-classifier", "binary-relation-classifier"])
def test_facts_of_names_that_training_lacks(tmp_path: Path, name: str) -> None:
    text = "Eva Kern was born in Lugano on June 7, 1922. Later she lived in Arth. The town of Bern grew."
    facts = [("Eva Kern", DAY, "7 June 1922"), ("Eva Kern", BORN, "Lugano"), ("Eva Kern", HOME, "Arth")]
    lines = [{"id": 1, "text": text, "subject": "Eva Kern"}, {"id": 2, "text": text}, {"id": 3, "text": "None."}]
    expected = [{"id": 1, "facts": facts}, {"id": 2, "facts": facts}, {"id": 3, "facts": []}]
    assert run(tmp_path, FACTS, name, lines) == expected == run(tmp_path, FACTS, name, lines)


def test_a_sentence_without_the_subject_is_about_it(tmp_path: Path) -> None:
    text = "Eva Kern left. Later lived in Arth."
    (line,) = run(tmp_path, FACTS, "relation-classifier", [{"id": 1, "text": text, "subject": "Eva Kern"}])
    assert line["facts"] == [("Eva Kern", HOME, "Arth")]


def test_factual_accuracy_counts_what_the_reference_can_verify() -> None:
    reference = [("a", "r", "b"), ("a", "r", "c"), ("a", "q", "b")]
    assert fact_accuracy([("a", "r", "b"), ("a", "r", "d"), ("b", "r", "a")], reference) == 0.5
    assert fact_accuracy([("b", "r", "a")], reference) is None
    assert fact_accuracy([], reference) is None


@pytest.mark.parametrize("name", ["fact-acc", "binary-fact-acc"])
def test_the_metric_compares_the_facts_of_two_texts(tmp_path: Path, name: str) -> None:
    reference = "Eva Kern was born in Lugano on June 7, 1922. Later she lived in Arth."
    lines = [
        {"id": 1, "generated": reference, "reference": reference},
        {"id": 2, "generated": "Eva Kern was born in Arth on 7 June 1922.", "reference": reference},
        {"id": 3, "generated": "No fact.", "reference": reference},  # neutral: the mean of the others
    ]
    scores = [line["score"] for line in run(tmp_path, METRICS, name, lines)]
    assert scores == [1.0, 0.5, 0.75]


def test_the_metric_verifies_the_generated_text_by_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    difference = lambda generated, reference: len(generated - reference) - len(reference - generated)  # noqa: E731
    monkeypatch.setattr(fact_accuracy_module, "fact_accuracy", difference)
    long = "Eva Kern was born in Lugano on June 7, 1922. Later she lived in Arth."
    line = {"id": 1, "generated": "Eva Kern was born in Lugano.", "reference": long}
    assert [row["score"] < 0 for row in run(tmp_path, METRICS, "fact-acc", [line])] == [True]


def test_each_metric_has_its_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_accuracy_module, "_predict", lambda job, *, binary: iter([binary]))
    systems: Any = systems_of(METRICS)
    assert [*systems["fact-acc"].predict(None), *systems["binary-fact-acc"].predict(None)] == [False, True]


def test_names_occur_as_whole_words_in_any_case() -> None:
    tokens = tokenize("eva Kern and Eva Moser met Kern.")
    assert _occurrences(tokens, ["Eva Kern", "Kern"]) == {(0, 2), (1, 2), (6, 7)}


@pytest.mark.parametrize(
    ("task", "name", "line", "message"),
    [
        (FACTS, "relation-classifier", {"id": 1}, "inputs:1: text is missing"),
        (METRICS, "fact-acc", {"id": 1, "generated": "a"}, "inputs:1: a text is missing"),
    ],
)
def test_inputs_without_texts_are_refused(tmp_path: Path, task: str, name: str, line: dict, message: str) -> None:
    with pytest.raises(FileError, match=message):
        run(tmp_path, task, name, [line])


def test_training_texts_without_facts_are_refused(tmp_path: Path) -> None:
    files = {
        INPUTS: [write(tmp_path / "inputs", [{"id": 1, "text": "A."}])],
        "train": [write(tmp_path / "train", [{"id": 1, "text": "A.", "facts": []}])],
    }
    system = systems_of(FACTS)["relation-classifier"]
    with pytest.raises(UsageError, match="have no facts"):
        list(system.predict(system.job(FACTS, files, {}, 0)))


def test_gold_of_training_is_checked(tmp_path: Path) -> None:
    train_file = tmp_path / "train"
    train_file.write_text(json.dumps({"id": 1, "text": "A.", "facts": [["a", "b"]]}) + "\n")
    files = {INPUTS: [write(tmp_path / "inputs", [{"id": 1, "text": "A."}])], "train": [train_file]}
    system = systems_of(FACTS)["relation-classifier"]
    with pytest.raises(FileError, match="train:1: "):
        list(system.predict(system.job(FACTS, files, {}, 0)))


def test_training_lines_without_text_are_refused(tmp_path: Path) -> None:
    lines = [{"id": 1, "text": "Ann met Bob.", "facts": [["Ann", "met", "Bob"]]}, {"id": 2, "facts": []}]
    files = {
        INPUTS: [write(tmp_path / "inputs", [{"id": 1, "text": "A."}])],
        "train": [write(tmp_path / "train", lines)],
    }
    system = systems_of(FACTS)["relation-classifier"]
    with pytest.raises(FileError, match="train:2: text is missing"):
        list(system.predict(system.job(FACTS, files, {}, 0)))
