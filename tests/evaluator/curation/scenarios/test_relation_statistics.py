"""Statistics of a relation against plain loops over the triples, and `audit graph`."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cli.main import main
from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.relation_statistics import path_frequencies, path_names, relation_statistics
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


@given(graphs(), st.data())
@settings(deadline=None)
def test_statistics_equal_those_of_loops(triples, data):
    relation = data.draw(st.sampled_from(sorted({p for _, p, _ in triples})))
    graph, facts = Graph(triples), {(s, o) for s, p, o in triples if p == relation}
    unique = set(triples)
    ours = relation_statistics(graph, relation)
    ends = {end for fact in facts for end in fact}
    assert ours["mean_degree"] == pytest.approx(sum(graph_oracle.degree(unique, end) for end in ends) / len(ends))
    scores = [graph_oracle.popularity(unique, relation, *fact) for fact in facts]
    assert ours["popularity"]["lowest"] == pytest.approx(min(scores))
    assert ours["popularity"]["highest"] == pytest.approx(max(scores))
    assert (ours["facts"], ours["subjects"]) == (len(facts), len({s for s, _ in facts}))
    assert ours["objects_per_pair"] == len({o for _, o in facts}) / len(facts)

    counts, numbers, frequencies = path_frequencies(graph, relation, sample=1000, seed=0)
    by_fact = [graph_oracle.paths(triples, s, o, {relation}) for s, o in facts if s != o]
    expected = Counter(path for paths in by_fact for path in paths)
    found = {tuple(path_names(graph, number)) for number in numbers.tolist()}
    assert dict(zip((tuple(path_names(graph, n)) for n in numbers.tolist()), frequencies.tolist(), strict=True)) == (
        expected
    )
    assert len(found) == counts["paths"] == len(numbers)
    assert counts["facts_with_a_path"] == sum(map(bool, by_fact))
    assert counts["mean_frequency"] == (pytest.approx(expected.total() / len(expected)) if expected else None)


TRIPLES = """
ann born-in york
bob born-in york
cyd born-in bath
ann lives-in york
bob lives-in leeds
york in england
leeds in england
bath in england
"""


@pytest.fixture
def graph_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.tsv").write_text(TRIPLES.strip().replace(" ", "\t") + "\n")


def test_a_relation_and_its_paths(graph_file, tmp_path, capsys):
    assert main(["audit", "graph", "graph.tsv", "--relation", "born-in", "--output", "made", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["graph"] == {"triples": 8, "entities": 7, "predicates": 3}
    (row,) = report["relations"]
    assert (row["facts"], row["subjects"], row["objects"]) == (3, 3, 2)
    assert row["mean_degree"] == (2 + 2 + 1 + 4 + 2) / 5
    assert report["paths"] == [
        {"path": ["lives-in"], "facts": 1},
        {"path": ["lives-in", "in", "(-1)in"], "facts": 1},
    ]
    assert [json.loads(line) for line in (tmp_path / "made/paths.jsonl").read_text().splitlines()] == report["paths"]
    assert main(["audit", "graph", "graph.tsv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[3:]] == ["born-in", "in", "lives-in"]
    assert lines[3].split() == ["3", "3", "2", "1.000", "0.667", "2.2", "2", "1.0", "born-in"]


def test_a_relation_that_the_graph_lacks(graph_file, capsys):
    assert main(["audit", "graph", "graph.tsv", "--relation", "born in"]) == 64
    assert '--relation is "born in", expected one of the graph\'s 3 relations' in capsys.readouterr().err


def test_paths_are_searched_between_a_sample_of_facts(graph_file, capsys):
    found = []
    for seed in range(8):
        arguments = ["graph.tsv", "--relation", "born-in", "--sample", "1", "--seed", str(seed), "--json"]
        assert main(["audit", "graph", *arguments]) == 0
        found.append(json.loads(capsys.readouterr().out)["relations"][0])
    assert {row["facts_searched"] for row in found} == {1}
    assert {row["facts"] for row in found} == {3}
    assert {row["paths"] for row in found} == {0, 1}
