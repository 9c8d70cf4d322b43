"""Every published file gets the numbers that were published with it.

The papers' own evaluators computed the numbers. The files stay outside the repository: `../shared/data`.
"""

import io
import json
import random
from pathlib import Path

import pytest

from evaluator.jobs import JOBS
from tests.evaluator.tasks.knowledge_base_population import kbp_oracle
from tests.support.scoring_runs import assert_same, run_score, table

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="the published files are not in ../shared/data"),
]

MODES = {"span_overlap": "text", "span_exact": "exact", "uri": "link"}
COUNTS = {"P": "precision", "R": "recall", "F1": "f1"}


def expected(*parts):
    path = DATA.joinpath(*parts)
    return json.loads(path.read_text()) if path.exists() else {}


def files_of(*parts):
    folder = DATA.joinpath(*parts)
    return sorted(folder.glob("*.jsonl")) if folder.is_dir() else []


def score(task, gold, predictions, **options):
    with gold.open("rb") as gold_file, predictions.open("rb") as predictions_file:
        report, attachment = JOBS["score"](
            {"gold": gold_file, "predictions": predictions_file},
            {
                "task": task,
                "options": options,
                "resamples": 0,
                "gold_name": gold.name,
                "predictions_name": predictions.name,
            },
        )
    assert bool(attachment) == report["ok"]
    return report


def values(report):
    return {(score["measure"], tuple(score["slice"].items())): score["value"] for score in report["result"]["scores"]}


KNOWLEDGENET = expected("knowledgenet", "expected_fold_4.json")


@pytest.mark.parametrize("path", files_of("knowledgenet", "predictions"), ids=lambda path: path.stem)
def test_knowledgenet(path):
    gold = DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl"
    report = score("knowledge-base-population", gold, path, fold="4")
    expected_values = KNOWLEDGENET[path.stem]
    if isinstance(expected_values["uri"], str):
        assert not report["ok"]
        assert report["fault"] == "predictions"
        return
    scores = values(report)
    compared = 0
    for mode, rows in expected_values.items():
        for name, row in rows.items():
            slice_ = () if name == "all" else (("property", name),)
            for letter, measure in COUNTS.items():
                assert scores[f"{MODES[mode]}_{measure}", slice_] == pytest.approx(row[letter], abs=1e-9)
                compared += 1
    assert compared == 3 * (16 + 16 + 13)


@pytest.mark.parametrize(
    ("name", "message"), [("missing_field", "subjectUri is missing"), ("integer_property_id", "wrong type")]
)
def test_files_that_the_reference_cannot_read_are_refused_with_their_lines(name, message):
    gold = DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl"
    path = DATA / "knowledgenet" / "predictions" / f"{name}.jsonl"
    report = score("knowledge-base-population", gold, path, fold="4")
    assert report["fault"] == "predictions"
    lines = path.read_text().splitlines()
    with_facts = [number for number, line in enumerate(lines, 1) if json.loads(line)["facts"]]
    assert [problem["line"] for problem in report["problems"]] == with_facts[:100]
    assert report["more"] == len(with_facts) - 100
    assert all(message in problem["text"] for problem in report["problems"])


def test_whole_passages_get_a_warning():
    gold = DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl"
    path = DATA / "knowledgenet" / "predictions" / "whole_passage_every_property.jsonl"
    result = score("knowledge-base-population", gold, path, fold="4")["result"]
    assert any("span_ratio" in warning for warning in result["warnings"])


def test_the_public_fold_without_facts_is_valid_as_inputs():
    inputs = DATA / "knowledgenet" / "test_fold_5_without_facts.jsonl"
    first = json.loads(inputs.read_text().splitlines()[0])
    line = {
        "documentId": first["documentId"],
        "passages": [{"passageId": first["passages"][0]["passageId"], "facts": []}],
    }
    with inputs.open("rb") as stream:
        report, _ = JOBS["validate"](
            {"inputs": stream, "predictions": io.BytesIO(json.dumps(line).encode())},
            {"task": "knowledge-base-population", "inputs_name": inputs.name, "predictions_name": "p.jsonl"},
        )
    assert report["ok"], report


@pytest.mark.slow
@pytest.mark.parametrize("fold", [None, 2, 4])
def test_random_predictions_on_all_folds_equal_plain_loops(fold):
    gold_path = DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl"
    gold = [json.loads(line) for line in gold_path.read_text().splitlines()]
    lines = list(random_predictions(gold, random.Random(fold or 0)))
    report = run_score("knowledge-base-population", gold, lines, **({} if fold is None else {"fold": fold}))
    assert_same(table(report), kbp_oracle.score(gold, lines, fold))


def random_predictions(gold, draw):
    """Gold's facts, each altered in some way, in either layout."""
    bends = (
        lambda fact: fact | {"subjectStart": fact["subjectStart"] + draw.randrange(-9, 9)},
        lambda fact: fact | {"objectEnd": fact["objectStart"] + draw.randrange(-1, 2)},
        lambda fact: fact | {"objectStart": fact["objectEnd"], "objectEnd": fact["objectStart"]},
        lambda fact: fact | {"objectUri": fact["objectUri"] + draw.choice(["/", "//", "#"])},
        lambda fact: fact | {"propertyId": draw.choice(["1", "4", "5", "10", "25"])},
        lambda fact: fact | {"subjectUri": ""},
        dict,
    )
    for document in gold:
        passages = []
        for passage in document["passages"]:
            facts = [draw.choice(bends)(fact) for fact in passage["facts"] for _ in range(draw.randrange(3))]
            draw.shuffle(facts)
            passages.append({"passageId": passage["passageId"], "facts": facts})
        if draw.random() < 0.5:
            yield document | {"passages": passages}
        else:
            yield from ({"documentId": document["documentId"]} | passage for passage in passages)


FEVER = expected("fever", "expected.json")
FEVER_NAMES = {"label_accuracy": "accuracy"}


@pytest.mark.parametrize("max_evidence", ["5", "1", "none"])
@pytest.mark.parametrize("path", files_of("fever", "predictions"), ids=lambda path: path.stem)
def test_fever(path, max_evidence):
    report = score("fact-verification", DATA / "fever" / "gold_paper_dev.jsonl", path, max_evidence=max_evidence)
    assert report["primary"] == "fever_score"
    scores = values(report)
    expected_values = FEVER[path.stem][f"max_evidence_{max_evidence}"]
    if "error" in expected_values:
        # The reference divides by zero here: precision and recall are 0, so F1 is 0.
        expected_values = {"label_accuracy": 1.0, "evidence_precision": 0.0, "evidence_recall": 0.0, "evidence_f1": 0.0}
    for name, value in expected_values.items():
        assert scores[FEVER_NAMES.get(name, name), ()] == pytest.approx(value, abs=1e-9)


SYMMETRIC = expected("symmetric", "expected_accuracy.json")
SETS = {"v0.1_full": "fever_symmetric_full", "v0.2_dev": "fever_symmetric_dev"}


@pytest.mark.parametrize(
    ("folder", "path"),
    [(folder, path) for folder in SETS for path in files_of("symmetric", folder, "predictions")],
    ids=lambda value: getattr(value, "stem", value),
)
def test_fever_symmetric(folder, path):
    report = score("fact-verification", DATA / "symmetric" / folder / "gold.jsonl", path)
    assert report["primary"] == "accuracy"
    scores = values(report)
    assert scores["accuracy", ()] == pytest.approx(SYMMETRIC[SETS[folder]][path.stem], abs=1e-9)
    if path.stem == "perfect":
        assert scores["group_accuracy", ()] == scores["claim_consistency", ()] == 1.0
        assert scores["symmetric_gap", ()] == 0.0
    if path.stem in {"all_supports", "claim_only_hash", "negation_rule_claim_only"}:
        # Without reading the evidence, only one of a claim's two pieces of evidence can be answered correctly.
        assert scores["claim_consistency", ()] == scores["group_accuracy", ()] == 0.0


def test_every_published_file_exists():
    assert len(files_of("knowledgenet", "predictions")) == len(KNOWLEDGENET) > 0
    assert len(files_of("fever", "predictions")) == len(FEVER) > 0
    for folder, name in SETS.items():
        assert len(files_of("symmetric", folder, "predictions")) == len(SYMMETRIC[name]) > 0
