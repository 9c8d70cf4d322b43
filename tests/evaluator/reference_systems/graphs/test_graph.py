"""Graphs are read from files of three and five columns, and wrong lines are refused by number."""

import gzip

import pytest

from evaluator.errors import FileError, GoldError, UsageError
from evaluator.reference_systems.graphs.graph import Graph, read_graph
from evaluator.reference_systems.graphs.predict import read_claims, read_questions

TRIPLES = [("b", "r", "a"), ("a", "q", "c"), ("b", "r", "a")]


def names(graph: Graph) -> list[tuple[str, ...]]:
    return [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in graph.triples]


def test_names_and_triples_are_sorted_and_duplicates_count() -> None:
    graph = Graph.of(TRIPLES)
    assert graph.entities == ["a", "b", "c"]
    assert graph.relations == ["q", "r"]
    assert names(graph) == sorted(TRIPLES)
    assert graph.numbers([("c", "q", "new")]).tolist() == [[2, 0, -1]]
    assert names(Graph.of(reversed(TRIPLES))) == names(graph)


def test_files_of_three_and_five_columns_give_one_graph(tmp_path) -> None:
    three, five = tmp_path / "three.tsv", tmp_path / "five.tsv.gz"
    three.write_text("b\tr\ta\r\na\tq\tc\n")
    five.write_bytes(gzip.compress(b"b\tr\ta\tb|||B\t\n"))
    assert names(read_graph([three, five])) == names(Graph.of(TRIPLES))


@pytest.mark.parametrize("line", ["a\tr", "a\tr\tb\tc", "a\t \tb", "", "a\tr\tb\t\t\t"])
def test_a_line_that_is_no_triple_is_refused_by_number(tmp_path, line) -> None:
    path = tmp_path / "graph.tsv"
    path.write_text(f"a\tr\tb\n{line}\na\tr\tb\n")
    with pytest.raises(GoldError, match=r"graph\.tsv:2: "):
        read_graph([path])


def test_an_empty_and_a_missing_file_are_refused(tmp_path) -> None:
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(GoldError, match="the file is empty"):
        read_graph([tmp_path / "empty.tsv"])
    with pytest.raises(UsageError, match="cannot read"):
        read_graph([tmp_path / "none.tsv"])


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (read_questions, '{"id": 1, "question": ["a", "r", "?"]}', '{"id": 2, "question": ["?", "r", "?"]}'),
        (read_questions, '{"id": 1, "question": ["a", "r", "?"]}', '{"id": 1, "question": ["?", "r", "a"]}'),
        (read_claims, '{"id": 1, "subject": "a", "relation": "r", "object": "b"}', '{"id": 2, "subject": "a"}'),
    ],
)
def test_wrong_inputs_are_refused_by_number(tmp_path, read, good, bad) -> None:
    path = tmp_path / "inputs.jsonl"
    path.write_text(f"{good}\n")
    assert len(read(path)) == 1
    path.write_text(f"{good}\n{bad}\n")
    with pytest.raises(FileError, match=r"inputs\.jsonl:2: "):
        read(path)
