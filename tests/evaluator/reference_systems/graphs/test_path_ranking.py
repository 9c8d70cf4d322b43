"""`sfe`, `pra` and `kg-miner` as rankers, in a small world with a known rule and in degenerate graphs."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import GoldError, InputsError, UsageError
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.entity_types import EntityTypes
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.path_ranking import Examples, Features, PathRanker, Settings
from evaluator.reference_systems.graphs.walks import Walks
from evaluator.reference_systems.registry import systems_of

SYSTEMS = ("sfe", "pra", "kg-miner")
PEOPLE = range(30)
SETTINGS = Settings(longest=3, paths=50, triples=200, negatives=10, strength=1.0)


def rankings(name: str, folder: Path, triples, questions, *, seed: int = 0, **options: str) -> dict[str, list[str]]:
    graph, inputs = folder / "graph.tsv", folder / "inputs.jsonl"
    graph.write_text("".join("\t".join(triple) + "\n" for triple in triples))
    inputs.write_text("".join(json.dumps({"id": id_, "question": q}) + "\n" for id_, q in questions.items()))
    system = systems_of("link-prediction")[name]
    files = {INPUTS: [inputs], "graph": [graph]}
    lines = system.predict(system.job("link-prediction", files, options, seed))
    return {line["id"]: line["ranking"] for line in lines}


def world() -> list[tuple[str, str, str]]:
    """Return a graph: person n is born in town n mod 6, in country n mod 3, and its citizen if n > 5."""
    triples = [(f"p{n}", "born", f"t{n % 6}") for n in PEOPLE] + [(f"t{n}", "in", f"c{n % 3}") for n in range(6)]
    return [*triples, *((f"p{n}", "citizen", f"c{n % 3}") for n in PEOPLE if n > 5)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_rule_is_learned_and_the_order_of_lines_does_not_matter(tmp_path, name) -> None:
    questions = {f"p{n}": [f"p{n}", "citizen", "?"] for n in range(6)}
    found = rankings(name, tmp_path, world(), questions)
    assert {id_: ranking[0] for id_, ranking in found.items()} == {f"p{n}": f"c{n % 3}" for n in range(6)}
    reverse = dict(reversed(questions.items()))
    assert rankings(name, tmp_path, [*world()[::-1], *world()], reverse) == found


@pytest.mark.parametrize("name", SYSTEMS)
def test_questions_about_subjects(tmp_path, name) -> None:
    found = rankings(name, tmp_path, world(), {"c1": ["?", "citizen", "c1"]})
    known = {f"p{n}" for n in PEOPLE if n > 5 and n % 3 == 1}
    assert set(found["c1"][: len(known) + 2]) == known | {"p1", "p4"}


def test_a_true_example_is_described_without_its_own_triple() -> None:
    """The features of an example are those in the graph without the triple, as between two entities."""
    rng = np.random.default_rng(0)
    graph = Graph.of([("abcdef"[s], "rs"[r], "abcdef"[o]) for s, r, o in rng.integers(0, (6, 2, 6), (16, 3)).tolist()])
    walks = Walks(graph)
    for step in range(walks.steps):
        starts, ends, _ = walks.edges_of(step)
        examples = Examples(step, starts, ends, np.ones(len(starts), dtype=np.bool_))
        ranker = PathRanker(walks, Features(probabilities=True, value=lambda numbers: numbers), SETTINGS, 0)
        paths = ranker._frequent(examples, np.random.default_rng(0))
        values = ranker._values(examples, paths)
        for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            between = walks.between(start, step, end)
            codes = [tuple(walks.relations_of(code)) for code in between.codes.tolist()]
            right = dict(zip(codes, between.probabilities.tolist(), strict=True))
            assert values[row].tolist() == pytest.approx([right.get(path, 0.0) for path in paths])


def test_the_types_of_all_entities_are_those_of_each() -> None:
    rng = np.random.default_rng(1)
    graph = Graph.of(
        [("abcdefg"[s], "rst"[r], "abcdefg"[o]) for s, r, o in rng.integers(0, (7, 3, 7), (9, 3)).tolist()]
    )
    walks = Walks(graph)
    for relation in ("", "s"):
        types = EntityTypes(walks, relation)
        assert types.of_all().tolist() == [types.of(entity, -1, -1) for entity in range(len(graph.entities))]


@pytest.mark.parametrize("name", SYSTEMS)
def test_degenerate_graphs(tmp_path, name) -> None:
    """One triple; only loops; duplicates of one relation; names in other scripts; unknown names."""
    asked = {"known": ["a", "r", "?"], "entity": ["?", "r", "unknown"], "relation": ["a", "unheard", "?"]}
    for triples in (
        [("a", "r", "b")],
        [("a", "r", "a"), ("b", "r", "b")],
        [("a", "r", "b")] * 3 + [("a", "r", "c"), ("d", "r", "b")],
        [("a", "r", "Zürich"), ("東京", "r", "Zürich"), ("東京", "r", "Ωμέγα"), ("a", "s", "Ωμέγα")],
    ):
        found = rankings(name, tmp_path, triples, asked)
        names = {end for triple in triples for end in triple[::2]}
        assert found["relation"] == []
        assert all(set(ranking) <= names and len(set(ranking)) == len(ranking) for ranking in found.values())
        assert "a" not in found["known"]


def test_wrong_files_and_options_are_refused(tmp_path) -> None:
    question = {"1": ["p1", "citizen", "?"]}
    with pytest.raises(GoldError, match=r"graph.tsv:2: "):
        rankings("pra", tmp_path, [("a", "r", "b"), ("a", "b")], question)
    with pytest.raises(InputsError, match=r"inputs.jsonl:1: "):
        rankings("pra", tmp_path, world(), {"1": ["p1", "citizen", "c1"]})
    with pytest.raises(UsageError, match='type-relation is "kind", expected a relation of the graph'):
        rankings("kg-miner", tmp_path, world(), question, **{"type-relation": "kind"})
    with pytest.raises(UsageError, match='negatives is "1001", expected a whole number from 1 to 1000'):
        rankings("pra", tmp_path, world(), question, negatives="1001")
    with pytest.raises(UsageError, match='strength is "1e308", expected a number from 0 to 1000000000'):
        rankings("pra", tmp_path, world(), question, strength="1e308")
    system = systems_of("link-prediction")["sfe"]
    with pytest.raises(UsageError, match="sfe does not use --train"):
        system.job("link-prediction", {INPUTS: [tmp_path], "graph": [tmp_path], "train": [tmp_path]}, {}, 0)
