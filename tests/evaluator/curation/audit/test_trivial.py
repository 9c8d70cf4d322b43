"""Trivial systems: against scikit-learn, against counting, and on splits that reveal their labels."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from evaluator.jobs import JOBS
from evaluator.tasks.baselines.base import BaselineInput
from evaluator.tasks.baselines.naive_bayes import CountedTexts
from tests.evaluator.curation.audit.splits import audited, claims, codes, document, fact, facts, split, stream


def scores(report):
    return {row["system"]: row["scores"] for row in report["trivial"]}


def test_naive_bayes_equals_scikit_learns():
    rng = random.Random(1)
    texts = [" ".join(rng.choices("abcdefgh", k=rng.randrange(1, 9))) for _ in range(60)]
    labels = [rng.choice("xyz") for _ in texts]
    in_training = np.arange(60) < 40
    counts = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+")
    model = MultinomialNB().fit(counts.fit_transform(texts[:40]), labels[:40])
    ours = CountedTexts(texts, labels).log_probabilities(in_training)
    expected = model.predict_joint_log_proba(counts.transform(texts))
    assert ours == pytest.approx(expected, abs=1e-9)
    assert CountedTexts(texts, labels).predicted(in_training).tolist() == expected.argmax(axis=1).tolist()


COMMON = "the a in is was of by an film has"  # the ten most frequent words, which cue tables omit


def with_cue(lines):
    cue = {"REFUTES": "did not", "SUPPORTS": "sure enough"}
    return [line | {"claim": f"{COMMON} {line['claim']} {cue[line['label']]} {COMMON}"} for line in lines]


@pytest.mark.parametrize("trained", [False, True])
def test_claims_that_reveal_their_labels(trained):
    trains = [split("fact-verification", with_cue(claims(200, 2)), "train.jsonl")] if trained else []
    report = audited(split("fact-verification", with_cue(claims(200, 1))), train_splits=trains)
    assert scores(report)["claim-only"]["accuracy"] > 0.95
    assert {"trivial-system", "one-sided-words"} <= codes(report)
    clean = audited(split("fact-verification", claims(200, 1)))
    assert not {"trivial-system", "one-sided-words"} & codes(clean)
    assert scores(clean)["majority"]["accuracy"] == pytest.approx(clean["balance"][0]["majority"], abs=1e-5)


@pytest.mark.parametrize("first", ["REFUTES", "SUPPORTS"])
def test_audit_and_baseline_resolve_tied_labels_equally(first):
    other = {"REFUTES": "SUPPORTS", "SUPPORTS": "REFUTES"}[first]
    tied = [line | {"label": (first, other)[i % 2]} for i, line in enumerate(claims(40, 2))]
    gold_lines = claims(30, 1)
    own, train = split("fact-verification", gold_lines), split("fact-verification", tied, "train.jsonl")
    questions = [{name: line[name] for name in ("id", "claim")} for line in gold_lines]
    answers = own.task.baseline("majority").answer(BaselineInput(questions, [train], {}, 0, own=own))
    audit = [line["predicted_label"] for line in answers]
    arguments = {"task": "fact-verification", "baseline": "majority", "inputs_name": "i", "train_names": ["t"]}
    _, body = JOBS["baseline"]({"inputs": stream(questions), "0": stream(tied)}, arguments)
    computed = [json.loads(line)["predicted_label"] for line in body.splitlines()]
    assert audit == computed == ["SUPPORTS"] * len(gold_lines)


def test_entities_that_reveal_the_label():
    rng = random.Random(3)

    def lines(seed):
        triples = facts(120, seed)
        for line in triples:
            line["subject"] = f"{'good' if line['label'] else 'bad'} {rng.randrange(8)}"
        return triples

    report = audited(split("fact-checking", lines(1)), train_splits=[split("fact-checking", lines(2), "train.jsonl")])
    scores_found = scores(report)
    assert scores_found["subject-only"]["auroc"] == 1
    assert scores_found["relation-only"]["auroc"] == 0.5
    assert "trivial-system" in codes(report)


def test_a_relation_that_reveals_the_answer():
    lines = [
        {"id": f"q{n}", "question": [f"x{n}", "in", "?"], "answers": ["york" if n % 3 else "rome"], "filtered": []}
        for n in range(30)
    ]
    train = [
        {"id": f"t{n}", "question": [f"y{n}", "in", "?"], "answers": ["york" if n % 4 else "rome"], "filtered": []}
        for n in range(30)
    ]
    scores_found = scores(audited(split("link-prediction", lines), train_splits=[split("link-prediction", train)]))
    assert scores_found["by-relation"]["mrr"] == pytest.approx((20 + 10 / 2) / 30, abs=1e-5)
    assert scores_found["by-entity"]["mrr"] == 0


def test_a_fact_that_spans_its_passage():
    lines = [document(f"d{n}", "Ann leads Acme", [fact((0, 3), (10, 14))]) for n in range(12)]
    report = audited(split("knowledge-base-population", lines))
    assert scores(report)["whole-passage"] == {"text_f1": 1, "exact_f1": 0, "link_f1": 0}


def test_known_facts_and_lengths():
    lines = [
        {"id": f"t{n}", "subject": f"s{n}", "text": f"s{n} o{n}", "facts": [[f"s{n}", "r", f"o{n}"]]} for n in range(12)
    ]
    train = [line | {"id": "x" + line["id"]} for line in lines[:6]]
    scores_found = scores(audited(split("fact-extraction", lines), train_splits=[split("fact-extraction", train)]))
    assert scores_found["known-facts"]["recall"] == 0.5
    rated = [{"id": f"t{n}", "human": n, "generated": "word " * (n + 1)} for n in range(30)]
    report = audited(split("metric-correlation", rated))
    assert scores(report)["length"]["spearman"] == 1
    assert "trivial-system" in codes(report)
