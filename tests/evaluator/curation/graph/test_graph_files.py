"""Files of a graph: what is read, and what is refused with its line."""

import gzip
import io

import numpy as np
import pytest

from evaluator.curation.graph.files import read_embeddings, read_triples, read_types
from evaluator.errors import GoldError


def triples(content, name="train.txt"):
    return read_triples(io.BytesIO(content), name)


def refused(read, content, name):
    with pytest.raises(GoldError) as caught:
        read(io.BytesIO(content), name)
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"Q1\tP1\tQ2\nQ2\tP1\tQ3\n", b"Q1\tP1\tQ2\r\nQ2\tP1\tQ3\r\n", b"Q1\tP1\tQ2\nQ2\tP1\tQ3"],
)
def test_lines_end_as_they_like(content):
    assert triples(content) == ([("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")], [])
    assert triples(gzip.compress(content), "train.txt.gz")[0] == triples(content)[0]


def test_names_are_kept_as_they_are():
    name = "Saint-Étienne \"x\" 'y' \\t"
    assert triples(f"{name}\tP 1\t東京\n".encode())[0] == [(name, "P 1", "東京")]


def test_a_repeated_triple_is_kept_once_and_told():
    found, warnings = read_triples(io.BytesIO(b"a\tp\tb\na\tp\tb\n"), "/somewhere/x.txt")
    assert found == [("a", "p", "b")]
    assert warnings == ["x.txt: 1 duplicate triples were ignored"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "x: the file is empty, found 0 bytes"),
        (b"a\tp\tb\n\na\tp\tc\n", "x:2: blank line"),
        (b"a p b\n", "x:1: not a triple, found 1 column, expected subject, predicate and object, tab-separated"),
        (b"a\tp\tb\tc\n", "x:1: not a triple, found 4 columns"),
        (b"a\tp\t\n", "x:1: the object is empty"),
        (b"\tp\tb\n", "x:1: the subject is empty"),
        (b"\xef\xbb\xbfa\tp\tb\n", "x:1: the file begins with a byte order mark"),
        (b"a\tp\tb\na\tp\t\xff\n", "x:2: not UTF-8, found byte 5 of the line"),
        (b"a\tp\tb\0\n", "x:1: invalid character in a name"),
        (b"a\tp\tb\rc\tp\td\n", "x:1: invalid character in a name"),
        (b"a\tp\n\nb\n", "x:1: not a triple, found 2 columns"),
    ],
)
def test_what_is_no_triple_is_refused_with_its_line(content, told):
    assert refused(read_triples, content, "x").startswith(told)


def test_every_problem_is_told():
    assert refused(read_triples, b"a\n\xff\n\nb\tp\tc\nd\n", "x").count("\n") == 3


def test_lines_longer_than_what_is_read_at_once():
    long = "n" * 900_000
    assert triples(f"{long}\tp\tb\n{long}\tp\tc\n".encode())[0] == [(long, "p", "b"), (long, "p", "c")]
    assert refused(read_triples, b"x" * 3_000_000, "x").startswith("x:1: the line is too long")


def test_types_as_codex_has_them_and_as_lines():
    wanted = {"Q1": frozenset({"Q5", "Q6"}), "Q2": frozenset({"Q5"})}
    assert read_types(io.BytesIO(b'{"Q1": ["Q5", "Q6"],\n "Q2": ["Q5"]}'), "types.json") == wanted
    assert read_types(io.BytesIO(b"Q1\tQ5\nQ1\tQ6\nQ2\tQ5\n"), "types.tsv") == wanted


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"", "t.json", "t.json: the file is empty"),
        (b'{"a": ["b"],\n "c": [}', "t.json", "t.json:2: not valid JSON, found Expecting value at column 8"),
        (b'{"a": ["b"], "a": ["c"]}', "t.json", 't.json: duplicate key, found "a"'),
        (b'{"a": "b"}', "t.json", "t.json: not an object of types by entity, found Expected `array`, got `str`"),
        (b'["a"]', "t.json", "t.json: not an object of types by entity"),
        (b'{"a": ["\xff"]}', "t.json", "t.json: not an object of types by entity"),
        (b"[" * 100_000, "t.json", "t.json: not an object of types by entity"),
        (b"a\tb\tc\n", "t.tsv", "t.tsv:1: not an entity and a type, found 3 columns"),
    ],
)
def test_what_are_no_types_is_refused(content, name, told):
    assert refused(read_types, content, name).startswith(told)


def embeddings(content):
    return read_embeddings(io.BytesIO(content), "v.tsv", {"a": 0, "b": 1})


def test_embeddings_stand_in_the_order_of_the_graph():
    vectors, warnings = embeddings(b"b\t1\t2.5\nz\t0\t0\na\t-1e-3\t4\n")
    assert vectors.tolist() == [[-0.001, 4], [1, 2.5]]
    assert warnings == ["v.tsv: 1 entities are not in the graph, ignored"]
    assert np.isnan(embeddings(b"b\t1\t2\n")[0][0]).all()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a\t1\tx\n", 'v.tsv:1: not a vector, found "1\\tx"'),
        (b"a\t1\tnan\n", "v.tsv:1: not a vector"),
        (b"a\t1e999\n", "v.tsv:1: not a vector"),
        (b"a\n", "v.tsv:1: not a vector"),
        (b"a\t1\t2\nb\t1\n", "v.tsv:2: the vector has another length than those before, found 1 numbers, expected 2"),
        (b"a\t1\nb\t1\na\t2\n", 'v.tsv:3: duplicate entity, found "a" (first on line 1)'),
    ],
)
def test_what_is_no_vector_is_refused(content, told):
    with pytest.raises(GoldError) as caught:
        embeddings(content)
    assert str(caught.value).startswith(told)
