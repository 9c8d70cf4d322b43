"""The graph claims: each scenario is what its slices say, and nothing but the graph tells true from false."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "graph-claims"
SPLITS = ("train", "dev", "test")
Triple = tuple[str, str, str]


def split(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"splits/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def triple(line: dict[str, Any]) -> Triple:
    return line["subject"], line["relation"], line["object"]


def scenarios(lines: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The claims of each scenario and relation."""
    found = defaultdict(list)
    for line in lines:
        found[line["slices"]["scenario"], line["relation"]].append(line)
    return found


def table(name: str) -> list[list[str]]:
    return [row.split("\t") for row in (FOLDER / "graph" / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def graph() -> list[Triple]:
    return [(subject, predicate, object_) for subject, predicate, object_ in table("triples.tsv")]


@pytest.fixture(scope="module")
def types() -> dict[str, str]:
    return {entity: type_ for entity, type_ in table("types.tsv")}  # noqa: C416


@pytest.fixture(scope="module")
def whole(graph: list[Triple]) -> list[Triple]:
    """The graph with the true claims put back."""
    return graph + [triple(line) for name in SPLITS for line in split(name) if line["label"]]


class Reach:
    """Who stands beside whom when a relation is left out, in either direction."""

    def __init__(self, graph: list[Triple]) -> None:
        self.beside: dict[str, dict[str, set[str]]] = {}
        for relation in ("headquarteredIn", "scoredBy"):
            beside = self.beside[relation] = defaultdict(set)
            for subject, predicate, object_ in graph:
                if predicate != relation:
                    beside[subject].add(object_)
                    beside[object_].add(subject)

    def joins(self, claim: Triple, most: int = 3) -> bool:
        """Whether so many steps lead from subject to object."""
        reached = {claim[0]}
        for _ in range(most):
            reached |= {there for here in reached for there in self.beside[claim[1]][here]}
        return claim[2] in reached


@pytest.fixture(scope="module")
def reach(graph: list[Triple]) -> Reach:
    return Reach(graph)


def test_the_graph_is_a_graph(graph: list[Triple], types: dict[str, str]) -> None:
    assert 5000 < len(graph) == len(set(graph))
    assert len({predicate for _, predicate, _ in graph}) >= 12
    assert {end for subject, _, object_ in graph for end in (subject, object_)} <= set(types)


def test_no_claim_is_in_the_graph_or_asked_twice(graph: list[Triple], types: dict[str, str]) -> None:
    claims = [triple(line) for name in SPLITS for line in split(name)]
    assert len(claims) == len(set(claims))
    assert not set(claims) & set(graph)
    assert {end for subject, _, object_ in claims for end in (subject, object_)} <= set(types)
    # A subject whose one object the graph holds would give its false claims away.
    told = {(subject, predicate) for subject, predicate, _ in graph}
    assert not {(subject, relation) for subject, relation, _ in claims} & told
    subjects = [{triple(line)[:2] for line in split(name)} for name in SPLITS]
    assert not subjects[0] & subjects[1] and not subjects[0] & subjects[2] and not subjects[1] & subjects[2]


@pytest.mark.parametrize("name", SPLITS)
def test_each_subject_has_one_true_and_one_false_claim(name: str, types: dict[str, str]) -> None:
    about = defaultdict(list)
    for line in split(name):
        about[line["group"]].append(line)
    for one, other in about.values():
        assert {one["label"], other["label"]} == {True, False}
        assert triple(one)[:2] == triple(other)[:2]
        assert one["slices"] == other["slices"]
        assert types[one["object"]] == types[other["object"]]


def test_every_scenario_is_full_and_every_cell_can_be_scored() -> None:
    found = scenarios(split("test"))
    assert len(found) == 27 * 2
    for lines in found.values():
        assert Counter(line["label"] for line in lines) == {True: 10, False: 10}
        assert len({json.dumps(line["slices"]) for line in lines}) == 1
    cells = Counter((line["slices"]["transparency"], line["slices"]["homogeneity"]) for line in split("test"))
    assert set(cells) == set(product(("0.2", "0.5", "0.8"), repeat=2))
    assert min(cells.values()) >= 40


@pytest.mark.parametrize("name", ["dev", "test"])
def test_transparency_counts_the_false_claims_that_nothing_suggests(name: str, reach: Reach) -> None:
    for lines in scenarios(split(name)).values():
        false = [triple(line) for line in lines if not line["label"]]
        share = Fraction(lines[0]["slices"]["transparency"])
        assert sum(reach.joins(claim) for claim in false) == (1 - share) * len(false)
        # What is ambiguous is no true claim in disguise: no triple joins its ends.
        assert not any(reach.joins(claim, most=1) for claim in false)


def test_false_claims_out_of_reach_pair_the_ends_of_true_ones(reach: Reach) -> None:
    for lines in scenarios(split("test")).values():
        right = {line["object"] for line in lines if line["label"]}
        false = [line for line in lines if not line["label"] and not reach.joins(triple(line))]
        assert false and {line["object"] for line in false} <= right


def test_homogeneity_is_the_share_of_the_largest_region(whole: list[Triple]) -> None:
    region = {subject: object_ for subject, predicate, object_ in whole if predicate == "inRegion"}
    largest = Counter(region[town] for _, predicate, town in whole if predicate == "headquarteredIn").most_common(1)
    for (_, relation), lines in scenarios(split("test")).items():
        if relation == "headquarteredIn":
            true = [line for line in lines if line["label"]]
            there = sum(region[line["object"]] == largest[0][0] for line in true)
            assert there == Fraction(lines[0]["slices"]["homogeneity"]) * len(true)


@pytest.mark.parametrize("relation", ["headquarteredIn", "scoredBy"])
def test_popularity_goes_by_degree(relation: str, whole: list[Triple]) -> None:
    degree = Counter(end for subject, _, object_ in whole for end in (subject, object_))
    ends = {end for subject, predicate, object_ in whole if predicate == relation for end in (subject, object_)}
    mean = Fraction(sum(degree[end] for end in ends), len(ends))
    found = defaultdict(list)
    for line in split("test"):
        if line["label"] and line["relation"] == relation:
            low, high = sorted((degree[line["subject"]], degree[line["object"]]))
            found[line["slices"]["popularity"]].append(low * (1 + high / mean))
    medians = [sorted(values)[len(values) // 2] for values in map(found.get, ("non-popular", "random", "popular"))]
    assert medians == sorted(medians)
    assert medians[2] > 3 * medians[0]


@pytest.mark.parametrize("name", SPLITS)
def test_ids_and_order_tell_nothing(name: str) -> None:
    """A permutation test: the places of true claims, by file and by id, are those of a fair draw."""
    lines = split(name)
    rng = random.Random(1)
    for places in (range(len(lines)), sorted(range(len(lines)), key=lambda i: lines[i]["id"][::-1])):
        for told in (lambda line: line["label"], lambda line: line["slices"]["scenario"] < "t0.5 h0.5 p"):
            marks = [bool(told(lines[i])) for i in places]
            found = sum(place for place, mark in enumerate(marks) if mark)
            runs = sum(one != other for one, other in pairwise(marks))
            drawn = [rng.sample(marks, len(marks)) for _ in range(400)]
            sums = [sum(place for place, mark in enumerate(draw) if mark) for draw in drawn]
            turns = [sum(one != other for one, other in pairwise(draw)) for draw in drawn]
            assert min(sums) <= found <= max(sums)
            assert min(turns) <= runs <= max(turns)


def test_a_subject_or_an_object_alone_tells_little() -> None:
    """Within the file, how often an end is asked about."""
    lines = split("test")
    subjects = Counter((line["relation"], line["subject"]) for line in lines)
    assert set(subjects.values()) == {2}
    objects = Counter((line["relation"], line["object"]) for line in lines)
    true, false = (
        [objects[x["relation"], x["object"]] for x in lines if x["label"] is label] for label in (True, False)
    )
    wins = sum((a > b) + (a == b) / 2 for a, b in product(true, false))
    assert abs(wins / (len(true) * len(false)) - 0.5) < 0.06
