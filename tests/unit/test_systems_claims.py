"""The reference systems for fact-verification, against other people's implementations of the same."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tests.unit.reference_systems import FIXTURES, Json, answers, asked, lines, public

PENALTY = 1e-3
FIELDS = ("claim", "evidence_text")


def split(benchmark: str, name: str) -> list[Json]:
    return lines(FIXTURES / benchmark / "splits" / f"{name}.jsonl")


def predicted(system: str, benchmark: str, folder: Path) -> dict[str, str]:
    data = {"train.jsonl": public(benchmark, "splits/train.jsonl")}
    made = answers(system, folder, data, asked(split(benchmark, "test"), *FIELDS))
    assert all(line["predicted_evidence"] == [] for line in made)
    return {line["id"]: line["predicted_label"] for line in made}


def accuracy(gold: list[Json], answered: dict[str, str]) -> float:
    return sum(answered[line["id"]] == line["label"] for line in gold) / len(gold)


@pytest.mark.parametrize("benchmark", ["mirror-claims", "sourced-claims"])
def test_the_majority_is_the_most_frequent_label(benchmark: str, tmp_path: Path) -> None:
    counts = Counter(line["label"] for line in split(benchmark, "train"))
    (most, n), (_, second) = counts.most_common(2)
    assert n > second
    answered = predicted("majority", benchmark, tmp_path)
    assert answered == {line["id"]: most for line in split(benchmark, "test")}


def test_of_equally_frequent_labels_the_first_is_the_majority(tmp_path: Path) -> None:
    train = "".join(json.dumps({"label": label}) + "\n" for label in ("SUPPORTS", "REFUTES", "REFUTES", "SUPPORTS"))
    made = answers("majority", tmp_path, {"train.jsonl": train}, [{"id": 7, "claim": "c"}])
    assert made == [{"id": 7, "predicted_label": "REFUTES", "predicted_evidence": []}]


def test_the_claim_alone_tells_nothing_on_a_symmetric_set(tmp_path: Path) -> None:
    gold = split("mirror-claims", "test")
    answered = predicted("claim-only", "mirror-claims", tmp_path)
    assert accuracy(gold, answered) == 0.5
    first = [line for line in gold if line["slices"]["origin"] == "original"]
    # By the wording of ordinary claims it does well: it has learned something, and that is what the set takes away.
    assert accuracy(first, answered) > 0.8


@pytest.mark.parametrize("benchmark", ["mirror-claims", "sourced-claims"])
def test_claim_only_finds_the_minimum_that_another_solver_finds(benchmark: str, tmp_path: Path) -> None:
    train, test = split(benchmark, "train"), split(benchmark, "test")
    vectors = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    rows = constant(vectors.fit_transform(line["claim"] for line in train))
    labels = [line["label"] for line in train]
    # Of two labels that solver keeps the difference of two vectors, whose penalty is half as much.
    strength = (2 if len(set(labels)) == 2 else 1) / (PENALTY * len(train))
    model = LogisticRegression(C=strength, fit_intercept=False, solver="lbfgs", tol=1e-10, max_iter=10_000)
    model.fit(rows, labels)
    likely = model.predict_proba(constant(vectors.transform(line["claim"] for line in test)))
    clear = np.diff(np.sort(likely, axis=1)[:, -2:], axis=1)[:, 0] > 1e-3
    assert clear.mean() > 0.95
    answered = predicted("claim-only", benchmark, tmp_path)
    ours = np.array([answered[line["id"]] for line in test])
    assert (ours == model.classes_[likely.argmax(axis=1)])[clear].all()
    learned = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert learned["inverse"] == pytest.approx(dict(zip(vectors.get_feature_names_out(), vectors.idf_, strict=True)))
    terms = (*vectors.get_feature_names_out(), "")
    weights = np.array([[learned["weights"][label][term] for term in terms] for label in model.classes_])
    found = weights if len(model.classes_) > 2 else weights[1:] - weights[:1]
    assert np.abs(model.coef_).max() > 1
    assert found == pytest.approx(model.coef_, abs=0.01)


def constant(rows: csr_matrix) -> csr_matrix:
    """With the term of every claim."""
    return hstack([rows, np.ones((rows.shape[0], 1))]).tocsr()


def test_training_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    train = "".join(public("sourced-claims", "splits/train.jsonl").splitlines(keepends=True)[:100])
    kept = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        answers("claim-only", tmp_path / name, {"train.jsonl": train}, [{"id": "a", "claim": "Nothing known."}])
        kept.append((tmp_path / name / "model.json").read_bytes())
    assert kept[0] == kept[1]
