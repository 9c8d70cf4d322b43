"""Open triples are read strictly, one block at a time; problems are reported with their line."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.curation.open_triples.triples import (
    Dictionary,
    OpenTriple,
    read_blocks,
    read_dictionary,
    read_triples,
    to_line,
)
from evaluator.errors import GoldError
from evaluator.jsonl.decompress import CHUNK

VALID = "nbc\thas office in\tnyc\n"


def triples(data: bytes | str, file: str = "t.tsv", dictionary: Dictionary | None = None) -> list[OpenTriple]:
    data = data.encode() if isinstance(data, str) else data
    return read_triples(io.BytesIO(data), file, dictionary or Dictionary())


def problems(data: bytes | str) -> list[str]:
    with pytest.raises(GoldError) as caught:
        triples(data)
    return [str(problem) for problem in caught.value.problems]


def test_lists_of_mentions_are_those_of_linked_ends() -> None:
    read = triples(
        "nbc\tin\tnyc\tnbc|||NBC-TV\t\nnbc\tin\tnyc\t\t new york ||| \nnbc\tin\tnyc\tx\ty|||y\nnbc\tin\tnyc\n"
    )
    assert [triple[3:] for triple in read] == [
        (("nbc", "NBC-TV"), ()),
        ((), ("nyc", "new york")),
        (("nbc", "x"), ("nyc", "y")),
        ((), ()),
    ]
    assert [triple.linked for triple in read] == [False, False, True, False]


def test_a_dictionary_links_ends_without_a_list() -> None:
    pairs = "nbc\tQ1\nNBC-TV\tQ1\nnyc\tQ2\nnbc\tQ3\nlocal\tQ3\nit\t\n"
    words = read_dictionary(io.BytesIO(pairs.encode()), "m.tsv")
    read = triples("nbc\tin\tnyc\nNBC-TV\tin\tit\nnbc\tin\tnyc\tn|||b\t\nNBC\tin\tnyc\n", dictionary=words)
    assert [triple[3:] for triple in read] == [
        (("nbc", "NBC-TV", "local"), ("nyc",)),
        (("NBC-TV", "nbc"), ()),
        (("nbc", "n", "b"), ("nyc",)),
        ((), ("nyc",)),
    ]


CELL = st.text("ab| ", max_size=6)
NAME = st.sampled_from(["a", "b", "ab", "a b"])


@given(row=st.tuples(NAME, NAME, NAME, CELL, CELL).map(list) | st.tuples(NAME, NAME, NAME).map(list))
def test_links_agree_with_parsed_triples(row: list[str]) -> None:
    words = Dictionary({"a": ["Q1"], "b": []})
    assert words.links(row) == words.triple(row).linked


@given(
    triple=st.builds(OpenTriple, NAME, NAME, NAME, st.lists(NAME).map(tuple), st.lists(NAME, min_size=1).map(tuple)),
    entities=st.booleans(),
)
def test_a_written_triple_can_be_read(triple: OpenTriple, entities: bool) -> None:
    (read,) = triples(to_line(triple, entities=entities) + "\n")
    assert read[:3] == triple[:3]
    expected = (set(triple.subjects), set(triple.objects)) if entities else (set(), set())
    own = ({triple.subject}, {triple.object})
    assert [set(mentions) for mentions in read[3:]] == [e | o if e else e for e, o in zip(expected, own, strict=True)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "last"])
def test_blocks_contain_every_line_and_its_number(end: str, last: str) -> None:
    """A file of several blocks, with block boundaries anywhere."""
    lines = [f"subject {number}\tknows\t{'é' * (number % 50)}x" for number in range(60_000)]
    data = end.join(lines) + (end if last == "" else "")
    assert len(data.encode()) > 3 * CHUNK
    blocks = list(read_blocks(io.BytesIO(data.encode()), "t.tsv"))
    assert len(blocks) > 3
    assert [line for block in blocks for line in block.lines] == lines
    assert [number for block in blocks for number in block.numbers] == list(range(1, len(lines) + 1))
    assert [row for block in blocks for row in block.rows] == [line.split("\t") for line in lines]


def test_a_compressed_file_is_decompressed() -> None:
    assert triples(gzip.compress(VALID.encode() * 100_000), "t.tsv.gz")[-1][:3] == ("nbc", "has office in", "nyc")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            VALID + "a\tb\n" + VALID,
            "t.tsv:2: not an open triple, found 2 columns, expected subject, relation, object, and",
        ),
        ("a\tb\tc\td\n", "t.tsv:1: not an open triple, found 4 columns"),
        (VALID + "\n" + VALID, "t.tsv:2: not an open triple, found 1 column"),
        (VALID + " \tb\tc\n", 't.tsv:2: the subject is empty, found " ", expected at least one word'),
        ("a\t\tc\n", 't.tsv:1: the relation is empty, found ""'),
        ("a\tb\t\n", 't.tsv:1: the object is empty, found ""'),
        (VALID.encode() + b"a\tb\t\xff\n", "t.tsv:2: not UTF-8, found 0xff at byte 5 of the line"),
        (VALID + "a\tb\0\tc\n", "t.tsv:2: NUL byte, found at byte 4 of the line"),
        (VALID + "a\tb\rx\tc\n", "t.tsv:2: a carriage return alone"),
        ("\ufeff" + VALID, "t.tsv:1: the file begins with a byte order mark"),
        ("", "t.tsv: the file is empty"),
        ("a\tb\t" + "c" * (CHUNK + 9), "t.tsv: a line is too long"),
        (gzip.compress(VALID.encode(), mtime=0), "t.tsv: the file is compressed"),
    ],
)
def test_a_problem_is_reported_with_its_line(data: bytes | str, message: str) -> None:
    assert problems(data)[0].startswith(message)


def test_all_problems_are_reported() -> None:
    assert [text.split(" ")[0] for text in problems(VALID + "a\n" + VALID + "b\tc\t\0\nd\t\te\n")] == [
        "t.tsv:2:",
        "t.tsv:4:",
        "t.tsv:5:",
    ]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (
            "nbc\n",
            "m.tsv:1: not a mention and an entity, found 1 column, expected two columns, with a mention in the first",
        ),
        ("nbc\tQ1\n\tQ1\n", "m.tsv:2: not a mention and an entity, found 2 columns"),
        ("a|||b\tQ1\n", "m.tsv:1: the mention contains the separator of mention lists"),
    ],
)
def test_problems_of_a_dictionary_are_reported(pairs: str, message: str) -> None:
    with pytest.raises(GoldError) as caught:
        read_dictionary(io.BytesIO(pairs.encode()), "m.tsv")
    assert str(caught.value.problems[0]).startswith(message)
