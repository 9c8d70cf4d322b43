"""Knowledge Linker agrees with a search of all paths, and with the demonstration's own implementation."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import UsageError
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.knowledge_linker import KnowledgeLinker
from evaluator.reference_systems.registry import systems_of
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import Question

Triple = tuple[str, str, str]
FIXTURES = Path(__file__).parents[4] / "fixtures"
NAMES = "abcdefg"


def random_triples(seed: int) -> list[Triple]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, (len(NAMES), 2, len(NAMES)), (9, 3)).tolist()
    return [*((NAMES[s], "rs"[r], NAMES[o]) for s, r, o in rows), ("x", "r", "y")]


def expected(triples: set[Triple], weighed: set[Triple], claim: Triple, closure, degree, logarithm) -> float:
    """Return the score in the graph of `triples`, following every path. weighed: the triples that degrees count."""
    pairs = [pair for s, _, o in weighed for pair in ((s, o), (o, s))]
    if degree == "neighbours":
        pairs = list({(s, o) for s, o in pairs if s != o})
    weights = {name: sum(s == name for s, _ in pairs) for name in [*NAMES, "x", "y"]}
    scale = {"log": lambda k: math.log(max(k, 1)), "log1p": math.log1p, "none": float}[logarithm]
    paths, costs = [(claim[0],)], []
    while paths:
        path = paths.pop()
        if path[-1] == claim[2]:
            passed = [scale(weights[name]) for name in path[1:-1]]
            costs.append(sum(passed) if closure == "metric" else max(passed, default=0))
            continue
        joined = {o for s, _, o in triples if s == path[-1]} | {s for s, _, o in triples if o == path[-1]}
        paths += [(*path, name) for name in joined - set(path)]
    return 1 / (1 + min(costs)) if costs else 0.0


@pytest.mark.parametrize(
    ("closure", "degree", "logarithm"),
    list(product(["metric", "ultrametric"], ["triples", "neighbours"], ["log", "log1p", "none"])),
)
def test_scores_agree_with_a_search_of_all_paths(closure, degree, logarithm) -> None:
    for seed in range(2):
        triples = random_triples(seed)
        graph, settings = Graph.of([*triples, triples[0]]), (closure, degree, logarithm)
        pairs = [*((s, "r", o) for s in "abcg" for o in "adefgx"), *triples]
        claims = [Claim(n, *pair) for n, pair in enumerate(pairs)]
        options = {"closure": closure, "degree": degree, "logarithm": logarithm}
        every = set(triples)
        fewer = every - set(pairs[-3:])
        for scorer, left, weighed in (
            (KnowledgeLinker(graph, **options), [every for _ in pairs], every),
            (KnowledgeLinker(graph, **options, remove_own=True), [every - {pair} for pair in pairs], every),
            (KnowledgeLinker(graph, **options, without=claims[-3:]), [fewer for _ in pairs], fewer),
        ):
            right = [expected(rest, weighed, pair, *settings) for pair, rest in zip(pairs, left, strict=True)]
            assert scorer.score_claims(claims).tolist() == pytest.approx(right, abs=1e-12)
        answers = KnowledgeLinker(graph, **options).score_answers(
            [Question(1, ("a", "r", "?")), Question(2, ("?", "r", "new"))]
        )
        assert not (answers[1] > -np.inf).any()
        for name, score in zip(graph.entities, answers[0].tolist(), strict=True):
            right = expected(every, every, ("a", "r", name), *settings) if name != "a" else 0.0
            assert score == pytest.approx(right, abs=1e-12) if right else score == -np.inf


def test_scores_agree_with_those_of_the_demonstration(tmp_path) -> None:
    folder = FIXTURES / "graph-claims"
    gold = [json.loads(line) for line in (folder / "splits/dev.jsonl").open()]
    claims = [{key: line[key] for key in ("id", "subject", "relation", "object")} for line in gold]
    inputs = tmp_path / "inputs.jsonl"
    inputs.write_text("".join(json.dumps(claim) + "\n" for claim in claims))
    system = systems_of("fact-checking")["knowledge-linker"]
    files = {INPUTS: [inputs], "graph": [folder / "graph/triples.tsv"]}
    lines = system.predict(system.job("fact-checking", files, {"logarithm": "log1p"}, 0))
    stored = (folder / "predictions/dev/knowledge-linker.jsonl").open()
    right = {line["id"]: line["score"] for line in map(json.loads, stored)}
    assert {line["id"]: round(line["score"], 4) for line in lines} == right


def test_claims_are_scored_in_groups_of_few_sources(monkeypatch) -> None:
    triples = random_triples(3)
    claims = [Claim(n, s, "r", o) for n, (s, o) in enumerate(product("abcdefg", "gfedcba"))]
    whole = KnowledgeLinker(Graph.of(triples)).score_claims(claims)
    monkeypatch.setattr("evaluator.reference_systems.graphs.knowledge_linker._BATCH_COSTS", 1)
    assert KnowledgeLinker(Graph.of(triples)).score_claims(claims).tolist() == whole.tolist()


@pytest.mark.parametrize(
    ("remove", "right"), [("none", [1, 1]), ("own", [1 / (1 + math.log(3)), 1 / (1 + math.log(2))]), ("claims", [0, 0])]
)
def test_triples_of_claims_are_removed(tmp_path, remove, right) -> None:
    """Both claims are triples of the graph: a r b, and a r c. Entity c is joined with b in a third."""
    inputs, graph = tmp_path / "inputs.jsonl", tmp_path / "graph.tsv"
    claims = [{"id": n, "subject": "a", "relation": "r", "object": name} for n, name in enumerate("bc")]
    inputs.write_text("".join(json.dumps(claim) + "\n" for claim in claims))
    graph.write_text("a\tr\tb\na\tr\tc\nc\ts\tb\nc\ts\td\n")
    system = systems_of("fact-checking")["knowledge-linker"]
    job = system.job("fact-checking", {INPUTS: [inputs], "graph": [graph]}, {"remove": remove}, 0)
    assert [line["score"] for line in system.predict(job)] == pytest.approx(right)


@pytest.mark.parametrize("option", ["closure", "degree", "logarithm", "remove"])
def test_unknown_options_are_refused(option, tmp_path) -> None:
    system = systems_of("fact-checking")["knowledge-linker"]
    with pytest.raises(UsageError, match=f'option {option} is "other", expected one of: '):
        system.job("fact-checking", {"graph": [tmp_path]}, {option: "other"}, 0)
