"""Quotation marks in CSV and TSV: one that is out of place never joins rows, whatever the rest of the table is like."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from typing import Any

import pytest

from evaluator.curation.io.lines import read_lines
from evaluator.errors import GoldError
from evaluator.jsonl.tables import write_table
from evaluator.tasks.registry import find_task

Row = list[str]
WEIRD = ["c2", '"Weird Al opened the show.', "REFUTES"]
DRIVE = ["c3", 'The drive is 5.25"', "SUPPORTS"]
ROWS = [
    ["id", "claim", "label"],
    ["c1", "The disk has 40 tracks.", "SUPPORTS"],
    WEIRD,
    DRIVE,
    ["c4", "Oslo is in Norway.", "REFUTES"],
]


def joined(rows: list[Row], separator: str = ",", end: str = "\n") -> bytes:
    """Return rows as somebody writes them who does not know of quotation marks."""
    return "".join(separator.join(row) + end for row in rows).encode()


def problems_of(content: bytes, name: str) -> list[tuple[int | None, str]]:
    with pytest.raises(GoldError) as error:
        _, problems = read_lines(io.BytesIO(content), name)
        problems.raise_if_any()
    return [(problem.line, problem.what) for problem in error.value.problems]


def values_of(content: bytes, name: str) -> list[dict[str, Any]]:
    lines, problems = read_lines(io.BytesIO(content), name)
    problems.raise_if_any()
    return [line.value for line in lines]


@pytest.mark.parametrize(("kind", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_stray_quotation_mark_swallows_no_rows(kind: str, separator: str) -> None:
    task = find_task("fact-verification")
    with pytest.raises(GoldError) as error:
        task.read_gold(io.BytesIO(joined(ROWS, separator)), f"gold.{kind}", task.parse_options({}))
    problem = error.value.problems[0]
    assert problem.line == 3 and "claim" in problem.what and "quotation mark" in problem.found
    assert "twice" in problem.expected and "REFUTES" not in str(error.value) and "SUPPORTS" not in str(error.value)


NEIGHBOURS: dict[str, tuple[bytes, int]] = {
    "both marks many rows apart": (
        joined([*ROWS[:3], *([str(n), str(n * n), "z"] for n in range(5000)), *ROWS[3:]]),
        3,
    ),
    "last column empty": (joined([ROWS[0], ["c2", '"Weird Al', ""], ["c3", '5.25"', ""], ROWS[1]]), 2),
    "last column lacking": (joined([ROWS[0], ["c2", '"Weird Al'], ["c3", '5.25"', "SUPPORTS"], ROWS[1]]), 2),
    "in the first column": (joined([ROWS[0], ['"c2', "Weird Al", "REFUTES"], ['c3"', "x", "SUPPORTS"]]), 2),
    "in the last column": (joined([ROWS[0], ["c2", "Weird Al", '"REFUTES'], ["c3", "x", 'SUPPORTS"']]), 2),
    "a row in between is empty": (joined([*ROWS[:3], [""], *ROWS[3:]]), 3),
    "a row in between has an empty cell in quotation marks": (joined([*ROWS[:3], ["c9", '""', "REFUTES"], DRIVE]), 3),
    "a row in between has a cell in quotation marks": (joined([*ROWS[:3], ["c9", '"a, b"', "REFUTES"], DRIVE]), 3),
    "a row in between is the whole of what is swallowed": (joined([*ROWS[:3], ["c9", '"a"', "REFUTES"], DRIVE]), 3),
    "the second row lacks a cell": (b'id,claim,n,label\nc2,a,"b,REFUTES\nc3,5.25",SUPPORTS\n', 2),
    "the second row lacks a cell after the last": (b'id,claim,label\nc2,a,"REFUTES\nc3,5.25"\n', 2),
    "the first row lacks a cell after the first": (b'id,claim,label\n"c2,a\nc3",5.25,SUPPORTS\n', 2),
    "a row with one cell more": (joined([*ROWS[:2], [*WEIRD, "x"], *ROWS[3:]]), 3),
    "the second row has an empty last cell": (
        joined([ROWS[0], ["c2", "Weird Al", '"REFUTES'], ["c3", 'The drive is 5.25"', ""]]),
        2,
    ),
    "an empty cell ends the first row, and the second lacks one": (
        b'label,id,claim,note\nA,c1,"Weird Al,\nB,5.25",x\n',
        2,
    ),
    "CRLF": (joined(ROWS, end="\r\n"), 3),
    "CR": (joined(ROWS, end="\r"), 3),
    "mixed ends of lines": (b"".join(joined([row], end=end) for row, end in zip(ROWS, "\n\r\n\r\n", strict=True)), 3),
    "never closed": (joined(ROWS[:3]), 3),
    "in the last row, never closed": (joined([*ROWS[:2], WEIRD]), 3),
    "a space after the separators": (
        joined([ROWS[0], ["c2", '"Weird Al', " REFUTES"], ["c3", '5.25"', " SUPPORTS"]]),
        2,
    ),
    "spaces in the whole table": (
        b'id,claim,note,label\nc1,x, n, A\nc2,"Weird Al, a note,REFUTES\nc3,The drive is 5.25", a note,SUPPORTS\n',
        3,
    ),
    "spaces in the whole table, and marks in each row": (
        b'id,claim,note,label\nc1,"x", n, A\nc2,"Weird Al, a note,REFUTES\nc3,The drive is 5.25", a note,SUPPORTS\n',
        3,
    ),
    "a no-break space after the separators": (
        'id,claim,label\nc2,"Weird Al,\xa0REFUTES\nc3,5.25",\xa0SUPPORTS\n'.encode(),
        2,
    ),
    "marks written twice in what is swallowed": (
        b'id,claim,label\nc2,"He said ""hi,REFUTES\nc3,there"" now",SUPPORTS\n',
        2,
    ),
    "in the header": (b'id,"claim,label\nc1,x",SUPPORTS\nc2,y,REFUTES\n', 1),
    "in the header, never closed": (b'id,"claim,label\nc1,x,SUPPORTS\n', 1),
    "a byte order mark before it": (b'\xef\xbb\xbf"id,claim,label\nc1",x,SUPPORTS\n', 1),
    "a backslash before it": (b'id,claim,label\nc1,"He said \\"hi\\", yes",SUPPORTS\n', 2),
    "a backslash before the last one": (b'id,claim,label\nc1,"He said \\"",SUPPORTS\nc2,"x\\"",REFUTES\n', 2),
    "a space before it": (b'id,claim,label\nc1, "Weird Al opened", SUPPORTS\n', 2),
    "in the middle of a cell in quotation marks": (b'id,claim,label\nc1,"Weird "Al" opened",SUPPORTS\n', 2),
    "a single column": (b'x\n"a\nb"\n', 2),
    "with digits for words": (b'id,n,label\n1,"100,200\n2,300",400\n', 2),
    "both rows lack cells, and a row in between has all": (
        b'id,claim,label\nc2,"Weird Al\nc9,y,A\n5.25",SUPPORTS\n',
        2,
    ),
    "a space after the separators of all rows": (b'id,claim,label\nc1, x, A\nc2,"Weird Al, A\nc3, 5.25", B\n', 3),
    "a space after the first separator alone": (b'id,claim,label\nc1,"Weird Al, A\nc3, 5.25",B\nc4, x,A\n', 2),
    "digits like those of a large number": (b'claim,n,year,id\n"about 1,200,2000\nb",3,2001,c2\n', 2),
    "empty cells in quotation marks": (b'id,claim,label\n"c2,"",""\nc3",y,z\n', 2),
    "a row with one cell more, and lines like prose": (b'id,claim,label\nc1,"x\ny",A,B\n', 2),
    "in a column of JSON": (b'id,n:json,label\nc1,"[1,A\nc2,2]",B\n', 2),
    "in an id with a separator": (b'id,claim,label\n"c,1",x,A\nc2,"y,B\n"c,3",z",A\n', 3),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_of_the_stray_quotation_mark(name: str) -> None:
    content, row = NEIGHBOURS[name]
    assert problems_of(content, "gold.csv")[0][0] == row
    assert problems_of(gzip.compress(content), "gold.csv.gz")[0][0] == row


def test_a_header_over_several_lines_is_the_only_problem() -> None:
    assert problems_of(b'id,"claim,label\nc1,x",SUPPORTS\nc2,y\n', "gold.csv") == [
        (1, "claim,label could be several rows")
    ]


def test_the_column_and_the_row_are_named() -> None:
    assert problems_of(b'id,claim\nc1,x\nc2, "y"\n', "gold.csv") == [(3, "claim is not valid")]
    assert problems_of(b'id,claim\nc1,x, "y"\n', "gold.csv")[0] == (2, "cell 3 is not valid")
    assert problems_of(b'id,cl\x1baim\nc1,"x,A\nc2,y"\n', "gold.csv") == [(2, "cl\\u001baim could be several rows")]


def test_it_is_told_how_far_below_a_quotation_mark_ends() -> None:
    for lines, words in ((1, ", 1 line below"), (2, ", 2 lines below")):
        content = b'id,claim\nc1,"x' + lines * b"\ny" + b'"z\n'
        with pytest.raises(GoldError) as error:
            read_lines(io.BytesIO(content), "gold.csv")
        assert error.value.problems[0].found == "text after a quotation mark that ends a cell" + words
    with pytest.raises(GoldError) as error:
        read_lines(io.BytesIO(b'id,claim\nc1,"x\ny\n'), "gold.csv")
    assert error.value.problems[0].found == "a quotation mark that opens a cell and is never closed"


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029", "\v", "\f", "\x1e"])
def test_other_line_separators_end_no_rows_and_hide_none(end: str) -> None:
    assert problems_of(joined(ROWS, end=end), "gold.csv")
    swallowed = joined(ROWS[:2]) + joined([WEIRD], end=end) + joined(ROWS[3:])
    assert problems_of(swallowed, "gold.csv")[0][0] == 3
    assert problems_of(joined(ROWS[:2]) + joined([ROWS[1]], end=end) + joined([ROWS[4]]), "gold.csv")[0][0] == 3


def test_semicolons_with_quotation_marks_are_a_wrong_separator() -> None:
    content = b'"id";"claim";"label"\n"c1";"x";"SUPPORTS"\n'
    assert problems_of(content, "gold.csv") == [(1, "wrong separator")]
    assert problems_of(joined(ROWS, ","), "gold.tsv") == [(1, "wrong separator")]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_rows_are_never_lost_wherever_two_quotation_marks_stray(kind: str) -> None:
    """Two quotation marks anywhere in a plain table: it is read with all its rows and labels, or refused."""
    chance = random.Random(28)
    separator = {"csv": ",", "tsv": "\t"}[kind]
    for _ in range(1500):
        n_columns = chance.randint(2, 5)
        rows = [[f"{chance.choice(['x', 'a b', '7', ''])}{n}{k}" for k in range(n_columns)] for n in range(6)]
        content = joined([[f"k{k}" for k in range(n_columns)], *rows], separator).decode()
        for at in sorted(chance.sample(range(len(content)), 2), reverse=True):
            content = content[:at] + '"' + content[at:]
        try:
            read = values_of(content.encode(), f"gold.{kind}")
        except GoldError:
            continue
        assert [[value.replace('"', "") for value in row.values()] for row in read] == rows


def test_a_row_that_lacks_a_cell_is_refused_wherever_two_quotation_marks_stray() -> None:
    chance = random.Random(29)
    for _ in range(1500):
        n_columns = chance.randint(3, 5)
        rows = [[f"{chance.choice(['x', 'a b', '7'])}{n}{k}" for k in range(n_columns)] for n in range(6)]
        rows[chance.randrange(6)].pop()
        content = joined([[f"k{k}" for k in range(n_columns)], *rows]).decode()
        for at in sorted(chance.sample(range(len(content)), 2), reverse=True):
            content = content[:at] + '"' + content[at:]
        assert problems_of(content.encode(), "gold.csv")


@pytest.mark.parametrize(
    "cell",
    [
        "one line\nanother line",
        "a line, with a comma\nand another, with a comma",
        "one\n\ntwo, three, four\n",
        "It has 1,000 lakes\nor more, who knows",
        'He said "no, no"\nand left',
        "a, b, c, d, e",
        'x "y',
        "\u201cWeird Al\u201d, he said",
        '"Well," he said, "go."\n"No," she said.',
        'He said "yes," and left.\nShe said "no," and stayed.',
        "Roses are red,\nviolets are blue,\nsugar is sweet.",
        "Dear Sir,\nI write to you.\nYours,\nA. B.",
        "In 1,000 cases\nit took 2,000 days.",
        '"We leave,"\nshe said.',
        "Codes:\na,b,c,d,e\nand so on",
        "one line\r\nanother line",
        'It has\n "quoted" words',
        ' "Quoted" words',
        'Shares of a bank with 12,000 staff fell.\n"We will cut 1,200 jobs," it said,\nand $1,200,000 of costs.',
    ],
)
def test_cells_with_line_breaks_and_separators_are_legal(cell: str) -> None:
    for kind, separator in (("csv", ","), ("tsv", "\t")):
        for column in range(3):
            rows = [["id", "label"], ["c1", "SUPPORTS"], ["c2", "REFUTES"]]
            rows = [[*row[:column], text, *row[column:]] for row, text in zip(rows, ["claim", cell, cell], strict=True)]
            content = io.StringIO(newline="")
            csv.writer(content, delimiter=separator).writerows(rows)
            read = values_of(content.getvalue().encode(), f"gold.{kind}")
            assert [row["claim"] for row in read] == [cell, cell]


def test_json_over_several_lines_is_legal_in_its_column() -> None:
    cell = json.dumps({"a": 1, "b": [2, 3], "c": 4}, indent=1)
    content = io.StringIO(newline="")
    csv.writer(content).writerows([["id", "slices:json", "label"], ["c1", cell, "SUPPORTS"]])
    assert values_of(content.getvalue().encode(), "gold.csv")[0]["slices"] == json.loads(cell)


def test_a_line_separator_of_unicode_is_text_where_no_quotation_mark_is() -> None:
    assert values_of('id,claim,label\n"c1",x,A\nc2,y\u2028z,"B"\n'.encode(), "gold.csv")[1]["claim"] == "y\u2028z"


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_what_is_written_has_no_cell_that_could_be_rows(kind: str) -> None:
    lines = [
        {"id": "c1", "claim": "x,REFUTES\nc2,y", "note": ' "z"'},
        {"id": "a\tb\nc\td", "claim": "\x85", "note": "n"},
    ]
    written = write_table([json.dumps(line).encode() for line in lines], kind)
    assert values_of(written, f"gold.{kind}") == lines
    assert len(written.splitlines()) == 3
