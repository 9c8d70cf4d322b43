"""`sfe`, `pra` and `kg-miner` in a small world with a known rule: people are citizens of the country of birth."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import GoldError, UsageError
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.paths import SubgraphFeatures, TypedPaths, informative
from evaluator.reference_systems.graphs.walks import Walks
from evaluator.reference_systems.registry import systems_of

SYSTEMS = ("sfe", "pra", "kg-miner")
PEOPLE = range(24)


def write(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[Path]]:
    """Person n is born in town n mod 6, which is in country n mod 3. The odd ones are labelled, the others asked."""
    triples = [(f"p{n}", "born", f"t{n % 6}") for n in PEOPLE] + [(f"t{n}", "in", f"c{n % 3}") for n in range(6)]
    triples += [(f"p{n}", "knows", f"p{(n * 5 + 1) % 24}") for n in PEOPLE]
    graph = tmp_path / "graph.tsv"
    graph.write_text("".join("\t".join(triple) + "\n" for triple in triples))
    claims = [
        {"id": f"{n}-{right}", "subject": f"p{n}", "relation": "citizen", "object": f"c{(n + (not right)) % 3}"}
        for n in PEOPLE
        for right in (True, False)
    ]
    gold = [{**claim, "label": claim["id"].endswith("True")} for claim in claims if int(claim["subject"][1:]) % 2]
    asked = [claim for claim in claims if not int(claim["subject"][1:]) % 2]
    asked.append({"id": "new", "subject": "nobody", "relation": "unheard", "object": "nowhere"})
    return {
        INPUTS: [write(tmp_path / "inputs.jsonl", asked)],
        "graph": [graph],
        "train": [write(tmp_path / "train.jsonl", gold)],
    }


def predictions(name: str, files: dict[str, list[Path]], seed: int = 0, **options: str) -> dict[str, float]:
    system = systems_of("fact-checking")[name]
    options = {key.replace("_", "-"): text for key, text in options.items()}
    lines = system.predict(system.job("fact-checking", files, options, seed))
    return {line["id"]: line["score"] for line in lines}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_rule_is_learned(files, name) -> None:
    scores = predictions(name, files)
    assert len(scores) == 25 and all(np.isfinite(list(scores.values())))
    assert all((score > 0) == id_.endswith("True") for id_, score in scores.items() if id_ != "new")


def test_the_order_of_the_graph_changes_nothing(files) -> None:
    before = predictions("sfe", files)
    files["graph"][0].write_text("\n".join([*files["graph"][0].read_text().splitlines()[::-1], ""]))
    assert predictions("sfe", files) == before


def test_a_claim_is_described_without_its_own_triple() -> None:
    triples = [("ann", "born", "ulm"), ("eve", "born", "ulm"), ("ann", "knows", "eve")]
    claim = ("ann", "born", "ulm")
    features = []
    for graph in (triples, triples[1:]):
        walks = Walks(Graph.of(graph))
        features.append(SubgraphFeatures(walks, 2)(*walks.graph.numbers([claim])[0].tolist()))
    born, knows, steps = 0, 2, 2 * 2 + 1
    path = ("path", (knows + 1) * steps + born + 1)
    assert features[0] == features[1] == dict.fromkeys([path, ("subject", knows), ("object", born + 1)], 1.0)


def test_information_gain() -> None:
    """`sure` reveals the label, `half` reveals something, `all` and `even` reveal nothing."""
    rows = [("all", "sure", "half", "even"), ("all", "sure", "half"), ("all", "even"), ("all",)]
    examples, labels = [dict.fromkeys(row, 1.0) for row in rows], np.array([True, True, False, False])
    assert informative(examples, labels, 9) == {"sure", "half"}
    examples[3]["half"] = 1.0
    assert informative(examples, labels, 1) == {"sure"}
    assert informative(examples, labels, 9) == {"sure", "half"}
    assert informative(examples, np.ones(4, dtype=bool), 9) == set()


def test_types_are_declared_or_else_the_most_frequent_relation() -> None:
    """The claim is that ann knows bob. Without it, bob is mostly liked, and ann's relations are equally frequent."""
    graph = Graph.of(
        [
            ("ann", "is", "human"),
            ("ann", "knows", "bob"),
            ("ann", "knows", "eve"),
            ("ann", "likes", "zoe"),
            ("eve", "knows", "bob"),
            ("ian", "likes", "bob"),
            ("zoe", "likes", "bob"),
        ]
    )
    walks = Walks(graph)
    knows, likes = 2 * graph.relation["knows"], 2 * graph.relation["likes"]
    (claim,) = graph.numbers([("ann", "knows", "bob")]).tolist()
    base = walks.steps + 1
    paths = {(knows + 1) * base + knows + 1, (likes + 1) * base + likes + 1}  # by eve, by zoe
    steps = len(graph.entities)  # the numbers of steps as types begin after those of entities
    human, liked = graph.entity["human"], steps + likes + 1
    assert set(TypedPaths(walks, 3, "is")(*claim)) == {*paths, *((path, human, liked) for path in paths)}
    first = steps + 2 * graph.relation["is"]
    assert set(TypedPaths(walks, 3, "")(*claim)) == {*paths, *((path, first, liked) for path in paths)}
    assert TypedPaths(walks, 3, "")(-1, 0, claim[2]) == {}


def test_wrong_files_and_options_are_refused(files) -> None:
    gold = files["train"][0].read_text()
    for name in SYSTEMS:
        with pytest.raises(UsageError, match="--train is missing"):
            predictions(name, {**files, "train": []})
    with pytest.raises(UsageError, match="expected a whole number from 1 to 3"):
        predictions("pra", files, longest="4")
    with pytest.raises(UsageError, match='type-relation is "kind", expected a relation of the graph'):
        predictions("kg-miner", files, type_relation="kind")
    files["train"][0].write_text(gold.replace("false", "true"))
    with pytest.raises(UsageError, match="expected true and false claims"):
        predictions("sfe", files)
    files["train"][0].write_text(gold + '{"id": 1}\n')
    with pytest.raises(GoldError, match=r"train.jsonl:25: "):
        predictions("sfe", files)
