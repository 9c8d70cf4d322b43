"""The reference systems for link prediction and for claims over a graph, against their definitions counted out."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import pytest

from tests.unit.reference_systems import FIXTURES, Json, answers, asked, lines, public

Triple = tuple[str, str, str]
SMALL = [
    ("Ada", "lives in", "Bern"),
    ("Ada", "lives in", "Chur"),
    ("Emil", "lives in", "Bern"),
    ("Emil", "was born in", "Chur"),
    ("Bern", "is the home of", "Ada"),
]


def table(triples: list[Triple]) -> str:
    return "".join("\t".join(triple) + "\n" for triple in triples)


def rankings(system: str, folder: Path, triples: list[Triple], questions: list[Json]) -> dict[str, list[str]]:
    made = answers(system, folder, {"triples.tsv": table(triples)}, questions)
    return {line["id"]: line["ranking"] for line in made}


@pytest.mark.parametrize(
    ("system", "ranked"),
    [
        ("predict-with-rel", {"tail": ["Bern", "Chur"], "head": ["Ada", "Emil"], "born": ["Emil"], "new": []}),
        # Bern stands beside Ada twice, in either order.
        ("predict-with-ent", {"tail": ["Bern", "Chur"], "head": ["Ada", "Emil"], "born": ["Ada", "Emil"], "new": []}),
    ],
)
def test_small_counts(system: str, ranked: dict[str, list[str]], tmp_path: Path) -> None:
    questions = [
        {"id": "tail", "question": ["Ada", "lives in", "?"]},
        {"id": "head", "question": ["?", "lives in", "Bern"]},
        {"id": "born", "question": ["?", "was born in", "Chur"]},
        {"id": "new", "question": ["Nobody", "ever did", "?"]},
    ]
    assert rankings(system, tmp_path, SMALL, questions) == ranked


def count(system: str, triples: list[Triple], question: list[str], mention: str) -> int:
    """The definition, a mention at a time."""
    subject, relation, object_ = question
    blank = 0 if subject == "?" else 2
    if system == "predict-with-rel":
        return sum(triple[1] == relation and triple[blank] == mention for triple in triples)
    given = object_ if subject == "?" else subject
    return sum((s, o) in ((given, mention), (mention, given)) for s, _, o in triples)


@pytest.mark.parametrize("system", ["predict-with-rel", "predict-with-ent"])
def test_every_ranking_is_the_counts_in_their_order(system: str, tmp_path: Path) -> None:
    rows = [row.split("\t") for row in public("open-facts", "train/triples.tsv").splitlines()]
    triples = [(s, p, o) for s, p, o in rows]
    mentions = {end for s, _, o in triples for end in (s, o)}
    gold = lines(FIXTURES / "open-facts" / "splits" / "test.jsonl")
    found = rankings(system, tmp_path, triples, asked(gold, "question"))
    assert found.keys() == {line["id"] for line in gold}
    for line in random.Random(3).sample(gold, 4):
        near = [triple for triple in triples if set(triple) & set(line["question"])]
        counts = {mention: count(system, near, line["question"], mention) for mention in mentions}
        expected = sorted((m for m in mentions if counts[m]), key=lambda m: (-counts[m], m))
        assert found[line["id"]] == expected[:1000], line["question"]


def test_a_ranking_holds_no_more_than_it_may(tmp_path: Path) -> None:
    many: list[Triple] = [("one", "knows", f"number {n:04d}") for n in range(1200)]
    for system in ("predict-with-rel", "predict-with-ent"):
        found = rankings(system, tmp_path, many, [{"id": 1, "question": ["one", "knows", "?"]}])
        assert found == {1: [f"number {n:04d}" for n in range(1000)]}


def nearness(triples: set[Triple], claims: list[Triple], claim: Triple) -> float:
    """Knowledge Linker by its definition: every path that visits nobody twice, one at a time."""
    edges = [(s, o) for s, p, o in triples if (s, p, o) not in claims]
    degree = {node: sum((s == node) + (o == node) for s, o in edges) for edge in edges for node in edge}
    start, _, end = claim
    inner = [node for node in degree if node not in (start, end)]
    joined = {frozenset(edge) for edge in edges}
    costs = [
        sum(math.log(1 + degree[node]) for node in middle)
        for length in range(len(inner) + 1)
        for middle in itertools.permutations(inner, length)
        if all(frozenset(pair) in joined for pair in itertools.pairwise((start, *middle, end)))
    ]
    return 1 / (1 + min(costs)) if costs else 0.0


def linked(folder: Path, triples: set[Triple], claims: list[Triple]) -> list[float]:
    questions = [{"id": n, "subject": s, "relation": p, "object": o} for n, (s, p, o) in enumerate(claims)]
    made = answers("knowledge-linker", folder, {"triples.tsv": table(sorted(triples))}, questions)
    assert [line["id"] for line in made] == list(range(len(claims)))
    return [line["score"] for line in made]


def test_a_graph_on_paper(tmp_path: Path) -> None:
    triples = {("a", "p", "hub"), ("hub", "p", "b"), ("hub", "q", "c"), ("a", "p", "x"), ("x", "p", "y")}
    triples |= {("y", "p", "b"), ("a", "q", "c"), ("lone", "p", "lonely"), ("a", "tested", "b")}
    claims = [("a", "tested", "b"), ("a", "tested", "c"), ("a", "tested", "lone"), ("b", "tested", "y")]
    # Through the hub of three edges it costs ln 4; through x and y, of two each, ln 9. The tested edge is none.
    assert linked(tmp_path, triples, claims) == pytest.approx([1 / (1 + math.log(4)), 1.0, 0.0, 1.0])


@pytest.mark.parametrize("seed", range(4))
def test_the_least_cost_of_all_paths(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    nodes = "abcdefg"
    triples = {(rng.choice(nodes), rng.choice("pq"), rng.choice(nodes)) for _ in range(9)}
    triples = {(s, p, o) for s, p, o in triples if s != o}
    claims = [(s, "p", o) for s, o in itertools.permutations(nodes, 2) if rng.random() < 0.4]
    expected = [nearness(triples, claims, claim) for claim in claims]
    assert len(set(expected)) > 3
    assert linked(tmp_path, triples, claims) == pytest.approx(expected)
