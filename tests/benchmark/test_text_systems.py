"""Scores, processor time and memory of the systems that read texts, on public data, next to the published scores.

Run with `pytest tests/benchmark/test_text_systems.py -m benchmark -s`. Nothing is tuned on test: thresholds come from
a part of the training documents. The published scores of KnowledgeNet are of its fold 5, whose facts are hidden.
"""

import json
from pathlib import Path
from statistics import fmean

import pytest

from evaluator.cli.main import main
from evaluator.reference_systems.texts.knowledge_net import Passage, read_documents, trained_finder
from tests.benchmark.test_reference_systems import predict, report, score, write
from tests.conftest import ROOT

pytestmark = [pytest.mark.benchmark]
LIVES = ROOT / "fixtures" / "life-facts" / "splits"
POPULATION = "knowledge-base-population"
# The published scores of KnowledgeNet's baselines 1 and 2, on fold 5.
NETS = [("knowledgenet-1", {"text_f1": (0.50, 0.52)}), ("knowledgenet-2", {"text_f1": (0.50, None)})]
CORRUPTED = {
    "dates": [],
    "places": ["--objects-of", "place of birth", "place of death"],
    "people": ["--objects-of", "spouse", "child of"],
}


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_folds(data: Path, folder: Path) -> tuple[Path, Path, Path]:
    """Write the gold of folds 1 to 3, and inputs and gold of fold 4."""
    lines = read(data / "knowledgenet" / "gold_folds_1_to_4.jsonl")
    gold = [line for line in lines if line["fold"] == 4]
    hidden = {"facts", "exhaustivelyAnnotatedProperties"}
    inputs = [
        {
            "documentId": line["documentId"],
            "documentText": line["documentText"],
            "passages": [
                {key: value for key, value in passage.items() if key not in hidden} for passage in line["passages"]
            ],
        }
        for line in gold
    ]
    train = write(folder / "train.jsonl", [line for line in lines if line["fold"] < 4])
    return train, write(folder / "inputs.jsonl", inputs), write(folder / "gold.jsonl", gold)


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "expected"), NETS, ids=lambda value: value if isinstance(value, str) else "")
def test_knowledge_net(realdata: Path, tmp_path: Path, name: str, expected: dict) -> None:
    train, inputs, gold = write_folds(realdata, tmp_path)
    predictions = tmp_path / "predictions.jsonl"
    cost = predict(predictions, POPULATION, name, "--inputs", inputs, "--train", train)
    report(name, score(POPULATION, gold, predictions), expected, cost)


@pytest.mark.realdata
def test_the_mention_finder_finds_the_mentions_of_facts(realdata: Path, tmp_path: Path) -> None:
    """Count the facts of fold 4 for which some pair of mentions overlaps subject and object."""
    train, _, gold = write_folds(realdata, tmp_path)
    finder = trained_finder(read_documents([train]))
    n_facts = n_found = 0
    for document in read_documents([gold]):
        for annotated in document.passages:
            passage = Passage(document, annotated)
            spans = [passage.span(mention) for mention in finder.find(passage.text, passage.tokens)]
            for fact in annotated.facts:
                ends = (fact.subjectStart, fact.subjectEnd), (fact.objectStart, fact.objectEnd)
                hits = [
                    {index for index, span in enumerate(spans) if span[0] < end[1] and end[0] < span[1]} for end in ends
                ]
                n_facts += 1
                n_found += any(first != second for first in hits[0] for second in hits[1])
    report("candidates", {"recall": n_found / n_facts}, {"recall": (0.80, 0.80)}, f"{n_facts} facts")


@pytest.mark.parametrize("kind", CORRUPTED)
@pytest.mark.parametrize("name", ["fact-acc", "binary-fact-acc"])
def test_the_metric_of_a_corrupted_set(tmp_path: Path, capsys, name: str, kind: str) -> None:
    """The mean score of corrupted texts is near the accuracy that the corruption knows."""
    words = ["split", "corrupt", LIVES / "test.jsonl", "--kind", kind, *CORRUPTED[kind], "--keep-subject", "--json"]
    assert main([*map(str, words), "--output", str(tmp_path / "made")]) == 0
    known = json.loads(capsys.readouterr().out)["expected_fact_acc"]
    original = {line["id"]: line["text"] for line in read(LIVES / "test.jsonl")}
    pairs = [
        {"id": line["id"], "generated": line["text"], "reference": original[line["id"]]}
        for line in read(tmp_path / "made" / "inputs.jsonl")
    ]
    inputs, predictions = write(tmp_path / "inputs.jsonl", pairs), tmp_path / "predictions.jsonl"
    cost = predict(predictions, "metric-correlation", name, "--inputs", inputs, "--train", LIVES / "train.jsonl")
    mean = fmean(line["score"] for line in read(predictions))
    with capsys.disabled():
        print(f"\n{name}, {kind}: {mean:.3f} (known {known:.3f}); {cost}")
    assert mean == pytest.approx(known, abs=0.03)


@pytest.mark.parametrize("name", ["relation-classifier", "binary-relation-classifier"])
def test_fact_extraction(tmp_path: Path, name: str) -> None:
    gold, predictions = LIVES / "test.jsonl", tmp_path / "predictions.jsonl"
    lines = [{key: line[key] for key in ("id", "text", "subject")} for line in read(gold)]
    inputs = write(tmp_path / "inputs.jsonl", lines)
    trains = [word for part in ("train", "dev") for word in ("--train", LIVES / f"{part}.jsonl")]
    cost = predict(predictions, "fact-extraction", name, "--inputs", inputs, *trains)
    report(name, score("fact-extraction", gold, predictions), {"f1": (0.85, None)}, cost)
