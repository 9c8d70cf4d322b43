"""Graph files: valid ones are read, and invalid lines are reported."""

import gzip
import io

import numpy as np
import pytest

from evaluator.curation.graph.files import read_embeddings, read_triples, read_types
from evaluator.errors import GoldError


def triples(content, name="train.txt"):
    return read_triples(io.BytesIO(content), name)


def read_error(read, content, name):
    with pytest.raises(GoldError) as caught:
        read(io.BytesIO(content), name)
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"Q1\tP1\tQ2\nQ2\tP1\tQ3\n", b"Q1\tP1\tQ2\r\nQ2\tP1\tQ3\r\n", b"Q1\tP1\tQ2\nQ2\tP1\tQ3"],
)
def test_any_line_ending_is_accepted(content):
    assert triples(content) == ([("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")], [])
    assert triples(gzip.compress(content), "train.txt.gz")[0] == triples(content)[0]


def test_names_are_not_changed():
    name = "Saint-Étienne \"x\" 'y' \\t"
    assert triples(f"{name}\tP 1\t東京\n".encode())[0] == [(name, "P 1", "東京")]


def test_a_duplicate_triple_is_ignored_with_a_warning():
    parsed, warnings = read_triples(io.BytesIO(b"a\tp\tb\na\tp\tb\n"), "/somewhere/x.txt")
    assert parsed == [("a", "p", "b")]
    assert warnings == ["x.txt: 1 duplicate triples were ignored"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "x: the file is empty, found 0 bytes"),
        (b"a\tp\tb\n\na\tp\tc\n", "x:2: blank line"),
        (b"a p b\n", "x:1: not a triple, found 1 column, expected subject, predicate and object, tab-separated"),
        (b"a\tp\tb\tc\n", "x:1: not a triple, found 4 columns"),
        (b"a\tp\t\n", "x:1: the object is empty"),
        (b"\tp\tb\n", "x:1: the subject is empty"),
        (b"\xef\xbb\xbfa\tp\tb\n", "x:1: the file begins with a byte order mark"),
        (b"a\tp\tb\na\tp\t\xff\n", "x:2: not UTF-8, found 0xff at byte 5 of the line"),
        (b"a\tp\tb\0\n", "x:1: invalid character in a name"),
        (b"a\tp\tb\rc\tp\td\n", "x:1: invalid character in a name"),
        (b"a\tp\n\nb\n", "x:1: not a triple, found 2 columns"),
    ],
)
def test_an_invalid_triple_is_reported_with_its_line(content, message):
    assert read_error(read_triples, content, "x").startswith(message)


def test_every_problem_is_reported():
    assert read_error(read_triples, b"a\n\xff\n\nb\tp\tc\nd\n", "x").count("\n") == 3


def test_lines_longer_than_a_block():
    long = "n" * 900_000
    assert triples(f"{long}\tp\tb\n{long}\tp\tc\n".encode())[0] == [(long, "p", "b"), (long, "p", "c")]
    assert read_error(read_triples, b"x" * 3_000_000, "x").startswith("x:1: the line is too long")


def test_types_as_json_and_as_lines():
    expected = {"Q1": frozenset({"Q5", "Q6"}), "Q2": frozenset({"Q5"})}
    assert read_types(io.BytesIO(b'{"Q1": ["Q5", "Q6"],\n "Q2": ["Q5"]}'), "types.json") == expected
    assert read_types(io.BytesIO(b"Q1\tQ5\nQ1\tQ6\nQ2\tQ5\n"), "types.tsv") == expected


@pytest.mark.parametrize(
    ("content", "name", "message"),
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
def test_invalid_types_are_refused(content, name, message):
    assert read_error(read_types, content, name).startswith(message)


def embeddings(content):
    return read_embeddings(io.BytesIO(content), "v.tsv", {"a": 0, "b": 1})


def test_embeddings_follow_the_order_of_the_graph():
    vectors, warnings = embeddings(b"b\t1\t2.5\nz\t0\t0\na\t-1e-3\t4\n")
    assert vectors.tolist() == [[-0.001, 4], [1, 2.5]]
    assert warnings == ["v.tsv: 1 entities are not in the graph, ignored"]
    assert np.isnan(embeddings(b"b\t1\t2\n")[0][0]).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\t1\tx\n", 'v.tsv:1: not a vector, found "1\\tx"'),
        (b"a\t1\tnan\n", "v.tsv:1: not a vector"),
        (b"a\t1e999\n", "v.tsv:1: not a vector"),
        (b"a\n", "v.tsv:1: not a vector"),
        (
            b"a\t1\t2\nb\t1\n",
            "v.tsv:2: the vector's length differs from that of the first vector, found 1 number, expected 2 numbers",
        ),
        (b"a\t1\nb\t1\na\t2\n", 'v.tsv:3: duplicate entity, found "a" (first on line 1)'),
    ],
)
def test_an_invalid_vector_is_refused(content, message):
    with pytest.raises(GoldError) as caught:
        embeddings(content)
    assert str(caught.value).startswith(message)
