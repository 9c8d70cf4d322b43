"""Paths between two entities agree with a search of all walks."""

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import UsageError
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.walks import Walks

DEMONSTRATION = Path(__file__).parents[4] / "fixtures/graph-claims"
Triple = tuple[str, str, str]


def expected(triples: list[Triple], claim: Triple, longest: int) -> dict[tuple[int, ...], tuple[int, float]]:
    """Return path -> (walks, probability) in the graph without the claim, by following every walk."""
    graph = Graph.of(triples)
    steps = [
        step
        for s, r, o in sorted(set(triples) - {claim})
        if s != o
        for step in ((s, 2 * graph.relation[r], o), (o, 2 * graph.relation[r] + 1, s))
    ]
    fanout = Counter(step[:2] for step in steps)
    walks, found = [((), (claim[0],), 1.0)], {}
    while walks:
        path, visited, probability = walks.pop()
        for here, relation, there in steps:
            if here != visited[-1] or there in visited or len(path) == longest:
                continue
            further = ((*path, relation), (*visited, there), probability / fanout[here, relation])
            if there != claim[2]:
                walks.append(further)
                continue
            count, total = found.get(further[0], (0, 0.0))
            found[further[0]] = (count + 1, total + further[2])
    return found


@pytest.mark.parametrize("seed", range(6))
def test_paths_agree_with_a_search_of_all_walks(seed) -> None:
    rng = np.random.default_rng(seed)
    names, relations = "abcdef", "rst"
    triples = [(names[s], relations[r], names[o]) for s, r, o in rng.integers(0, (6, 3, 6), (14, 3)).tolist()]
    triples.append(triples[0])  # a duplicate counts once
    walks = Walks(graph := Graph.of(triples))
    for claim in [*triples, ("a", "r", "b"), ("f", "t", "a"), ("c", "s", "c")]:
        for longest in (1, 2, 3):
            ((subject, relation, object_),) = graph.numbers([claim]).tolist()
            paths = walks.between(subject, 2 * relation, object_, longest)
            found = {
                tuple(walks.relations_of(code)): (count, probability)
                for code, count, probability in zip(*(part.tolist() for part in paths), strict=True)
            }
            right = expected(triples, claim, longest)
            assert {path: count for path, (count, _) in found.items()} == {path: n for path, (n, _) in right.items()}
            assert all(found[path][1] == pytest.approx(p) for path, (_, p) in right.items())


def test_walks_agree_with_those_of_the_demonstration(monkeypatch) -> None:
    """Those of `fixtures/graph-claims/paths.py` use no triple of the claim's relation."""
    monkeypatch.syspath_prepend(str(DEMONSTRATION))
    graphs, paths = import_module("graph"), import_module("paths")
    del sys.modules["graph"], sys.modules["paths"]
    lines = (DEMONSTRATION / "graph/triples.tsv").read_text().splitlines()
    triples = [tuple(line.split("\t")) for line in lines]
    theirs, walks = graphs.Graph(triples), Walks(graph := Graph.of(triples))
    for line in list((DEMONSTRATION / "splits/dev.jsonl").open())[:20]:
        gold = json.loads(line)
        claim = (gold["subject"], gold["relation"], gold["object"])
        ((subject, relation, object_),) = graph.numbers([claim]).tolist()
        counts = {}
        paths_between = walks.between(subject, 2 * relation, object_)
        for code, count, _ in zip(*(part.tolist() for part in paths_between), strict=True):
            path = tuple("^" * (step % 2) + graph.relations[step // 2] for step in walks.relations_of(code))
            if claim[1] not in {step.removeprefix("^") for step in path}:
                counts[path] = count
        assert counts == paths.paths_between(theirs, claim)


def test_unknown_names_have_no_paths() -> None:
    walks = Walks(Graph.of([("a", "r", "b"), ("b", "r", "c")]))
    assert len(walks.between(-1, 0, 1).codes) == len(walks.between(0, 0, -1).codes) == 0
    assert walks.between(0, -1, 1).codes.tolist() == [1]
    assert len(Walks(Graph.of([])).between(-1, -1, -1).codes) == 0


def test_a_graph_of_too_many_relations_is_refused() -> None:
    graph = Graph.of([("a", "r", "b")])
    graph.relations = range(1_100_000)
    with pytest.raises(UsageError, match="1100000 relations"):
        Walks(graph)
