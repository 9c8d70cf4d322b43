"""Trained embeddings: what they learn, what the seed decides, and what tokens share."""

import json
from dataclasses import replace

import numpy as np
import pytest

from evaluator.errors import UsageError
from evaluator.progress import progress_listener
from evaluator.reference_systems.base import INPUTS
from evaluator.reference_systems.graphs import training
from evaluator.reference_systems.graphs.embeddings import SYSTEMS, EmbeddingScorer
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.models import ComplEx, TransH
from evaluator.reference_systems.graphs.tokens import Tokens
from evaluator.reference_systems.graphs.training import Batch, Settings, Table, sample_candidates, train
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import Question

# People of four towns; each town is in one of two countries, and so is each person. One person's country is left out.
PEOPLE = [(f"person {n}", f"town {n % 4}", f"land {n % 2}") for n in range(16)]
TRIPLES = [
    triple
    for person, town, land in PEOPLE
    for triple in ((person, "lives in", town), (person, "citizen of", land), (town, "lies in", land))
]
HELD_OUT = ("person 3", "citizen of", "land 1")
GRAPH = Graph.of(dict.fromkeys(triple for triple in TRIPLES if triple != HELD_OUT))
SETTINGS = Settings(epochs=40, rate=0.2, strength=0.01, batch=8, negatives=1000)
BY_NAME = {system.name: system for system in SYSTEMS}


def files(folder):
    graph, claims, questions = folder / "graph.tsv", folder / "claims.jsonl", folder / "questions.jsonl"
    graph.write_text("".join("\t".join(triple) + "\n" for triple in dict.fromkeys(TRIPLES) if triple != HELD_OUT))
    false = ("person 3", "citizen of", "land 0")
    lines = [{"id": n, "subject": s, "relation": r, "object": o} for n, (s, r, o) in enumerate([HELD_OUT, false])]
    claims.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = [{"id": 1, "question": [*HELD_OUT[:2], "?"]}, {"id": 2, "question": ["?", "lies in", "land 1"]}]
    questions.write_text("".join(json.dumps(line) + "\n" for line in asked))
    return {"graph": [graph]}, {"fact-checking": claims, "link-prediction": questions}


def run(name, task, folder, seed=0, **options):
    others, inputs = files(folder)
    texts = {"dim": "16", "epochs": "40", "rate": "0.2", "batch": "8", **options}
    return list(BY_NAME[name].predict(BY_NAME[name].job(task, {INPUTS: [inputs[task]], **others}, texts, seed)))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_fact_that_follows_from_others_is_found(tmp_path, name) -> None:
    first, second = run(name, "link-prediction", tmp_path)
    lands = [entity for entity in first["ranking"] if entity.startswith("land")]
    assert lands == ["land 1", "land 0"]
    assert {*second["ranking"][:2]} == {"town 1", "town 3"}
    scores = [line["score"] for line in run(name, "fact-checking", tmp_path)]
    assert scores[0] > scores[1]


def test_a_seed_decides_the_predictions(tmp_path) -> None:
    once, again = (run("complex", "fact-checking", tmp_path, seed=3, epochs="2") for _ in range(2))
    assert once == again != run("complex", "fact-checking", tmp_path, seed=4, epochs="2")


@pytest.mark.parametrize("model", [ComplEx(4), TransH(4)])
def test_unshared_tokens_give_the_plain_embeddings(model) -> None:
    settings = replace(SETTINGS, epochs=2, negatives=10)
    alone = Tokens(GRAPH.entities, shared=False), Tokens(GRAPH.relations, shared=False)
    plain, composed = train(GRAPH, model, settings, 0), train(GRAPH, model, settings, 0, tokens=alone)
    assert np.allclose(plain.entities.rows(None), composed.entities.rows(None), atol=1e-5)
    assert np.allclose(plain.relations.rows(None), composed.relations.rows(None), atol=1e-5)


def test_a_name_is_the_mean_of_its_tokens() -> None:
    tokens = Tokens(GRAPH.entities, shared=True), Tokens(GRAPH.relations, shared=True)
    embeddings = train(GRAPH, ComplEx(4), replace(SETTINGS, epochs=1), 0, tokens=tokens)
    vectors, names = embeddings.entities.vectors, tokens[0].names
    assert len(vectors) == 3 + 16  # person, town, land; the numbers
    expected = (vectors[names.index("town")] + vectors[names.index("2")]) / 2
    assert np.allclose(embeddings.entities.rows(None)[GRAPH.entity["town 2"]], expected)
    # A name that is not in the graph has the mean of the tokens that are.
    scorer = EmbeddingScorer(GRAPH, embeddings, tokens)
    both = [Question(n, (name, "lives in", "?")) for n, name in enumerate(["2 Town", "town 2", "new", "newer"])]
    rows = scorer.score_answers(both)
    assert np.allclose(rows[0], rows[1]) and np.allclose(rows[2], rows[3]) and not np.allclose(rows[0], rows[2])


def test_a_token_moves_by_the_shares_of_all_its_names() -> None:
    table = Table(2, 1, np.random.default_rng(0), 0.1, Tokens(["a b", "a"], shared=True))
    start = table.vectors[:, 0].tolist()
    table.update(None, np.array([[2.0], [3.0]], dtype=np.float32), 0.5)  # by a: 2 / 2 + 3; by b: 2 / 2
    table.update(np.array([0]), np.array([[6.0]], dtype=np.float32), 0.5)  # 3 each
    steps = [0.5 * (1 + 3 / 5), 0.5 * (1 + 3 / 10**0.5)]
    assert table.vectors[:, 0].tolist() == pytest.approx([start[0] - steps[0], start[1] - steps[1]], abs=1e-6)


def test_validation_triples_choose_the_epoch(monkeypatch) -> None:
    ranks = iter([4, 2, 3])
    looked = []

    def ranked(triples, known, score_all):
        looked.append(score_all.__self__.entities.vectors.copy())
        return np.array([next(ranks)])

    monkeypatch.setattr(training, "filtered_ranks", ranked)
    valid = GRAPH.numbers([HELD_OUT, ("new", "citizen of", "land 1")])
    best = train(GRAPH, ComplEx(8), replace(SETTINGS, epochs=3), 0, valid=valid)
    assert best.entities.vectors.tolist() == looked[1].tolist() != looked[2].tolist()
    assert len(looked) == 3


def test_large_graphs_score_a_sample_of_wrong_answers() -> None:
    embeddings = train(GRAPH, ComplEx(8), replace(SETTINGS, negatives=5), 0)
    row = embeddings.scores(*(GRAPH.numbers([HELD_OUT])[:, column] for column in (0, 1)), np.array([True]))[0]
    assert row[GRAPH.entity["land 1"]] > row[GRAPH.entity["land 0"]]


def test_the_sample_has_the_batch_and_the_number_of_negatives() -> None:
    rng = np.random.default_rng(0)
    batch = Batch(np.array([3, 99]), np.array([0, 1]), np.array([7, 3]))
    sample = sample_candidates(batch, 100, 10, rng)
    assert {3, 7, 99} <= set(sample.tolist()) and 10 <= len(sample) <= 13
    assert sample_candidates(batch, 100, 100, rng) is None
    placed = batch.among(sample)
    assert sample[placed.known].tolist() == [3, 99] and sample[placed.answers].tolist() == [7, 3]


def test_thresholds_are_learned_from_labelled_claims(tmp_path) -> None:
    others, inputs = files(tmp_path)
    train_file = tmp_path / "train.jsonl"
    claims = [
        (person, "citizen of", f"land {n}", n == int(land[-1])) for person, _, land in PEOPLE[4:12] for n in (0, 1)
    ]
    train_file.write_text(
        "".join(
            json.dumps({"id": n, "subject": s, "relation": r, "object": o, "label": label}) + "\n"
            for n, (s, r, o, label) in enumerate(claims)
        )
    )
    system = BY_NAME["complex"]
    options = {"dim": "16", "epochs": "40", "rate": "0.2", "batch": "8"}
    job = system.job("fact-checking", {INPUTS: [inputs["fact-checking"]], **others, "train": [train_file]}, options, 0)
    scores = [line["score"] for line in system.predict(job)]
    assert scores[0] > 0 > scores[1]
    job = system.job("link-prediction", {INPUTS: [inputs["link-prediction"]], **others, "train": [train_file]}, {}, 0)
    with pytest.raises(UsageError, match="expected no --train"):
        list(system.predict(job))


def test_progress_is_reported(tmp_path) -> None:
    shares: list[float] = []
    with progress_listener(shares.append):
        run("transe", "link-prediction", tmp_path, epochs="4")
    assert shares == [0.25, 0.5, 0.75, 1.0, 1.0], "of the training, then of the ranking"


@pytest.mark.parametrize(
    ("option", "value"),
    [("dim", "0"), ("dim", "1.5"), ("epochs", "\u00b2"), ("rate", "-1"), ("rate", "nan"), ("tokens", "on")],
)
def test_a_wrong_option_is_refused(tmp_path, option, value) -> None:
    with pytest.raises(UsageError, match=f"option {option} is"):
        run("complex", "link-prediction", tmp_path, **{option: value})


def test_scores_of_unknown_names_are_finite() -> None:
    scorer = EmbeddingScorer(GRAPH, train(GRAPH, TransH(4), replace(SETTINGS, epochs=1), 0), None)
    assert np.isfinite(scorer.score_claims([Claim(1, "new", "new", "new"), Claim(2, "town 1", "new", "new")])).all()
    assert len(scorer.score_claims([])) == 0
