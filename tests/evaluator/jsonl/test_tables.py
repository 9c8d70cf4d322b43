"""Tables of curators: nothing is changed on the way to JSON Lines and back, and hostile files are refused."""

from __future__ import annotations

import functools
import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evaluator.curation.io.lines import read_lines
from evaluator.errors import GoldError, PredictionError, ProblemList, UsageError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.tables import FORMATS, line_chunks, write_table
from evaluator.tasks.registry import TASKS, find_task
from tests.conftest import ROOT
from tests.support.full_run import examples

CURATORS = (ROOT / "docs" / "curators.md").read_text()
MANGLED = [
    "007",
    "1e5",
    "NA",
    "null",
    "TRUE",
    "2026-11-23",
    "1/2",
    "0x1F",
    "1,5",
    " ",
    "=1+1",
    "-",
    "@x",
    "_x0041_",
    "ax005F_",
]
text = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=6)
texts = st.sampled_from([*MANGLED, "ax005F_", "", "a\r\nb", "\r", "\u2028", '"', "é", "😀", "\x07", "_x000D_"]) | text
scalars = texts | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
values = scalars | st.none() | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
keys = st.sampled_from(["id", "claim", "slices", "x:json", "a.b", "_x0041_", "é"])
TOO_LARGE = "the table is too large"
NESTED = functools.reduce(lambda kind, _: pyarrow.list_(kind), range(500), pyarrow.int32())
lines = st.lists(st.dictionaries(keys, values, min_size=1, max_size=4), min_size=1, max_size=4)


def values_of(content: bytes, name: str) -> list[dict[str, Any]]:
    read, problems = read_lines(io.BytesIO(content), name)
    problems.raise_if_any()
    return [line.value for line in read]


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines)
@example([{"id": value} for value in MANGLED])
@example([{"id": 7}, {"id": "7"}, {"claim": None}])
@example([{"id": "0\r", "claim": "a\rb"}])
def test_lines_survive_a_table(kind: str, lines: list[dict[str, Any]]) -> None:
    written = write_table([json.dumps(line).encode() for line in lines], kind)
    assert values_of(written, f"gold.{kind}") == lines


def problems_of(content: bytes, name: str, limits: ReadLimits | None = None) -> list[tuple[int | None, str, str]]:
    with pytest.raises(GoldError) as error:
        _, problems = read_lines(io.BytesIO(content), name, limits)
        problems.raise_if_any()
    return [(problem.line, problem.what, problem.found) for problem in error.value.problems]


def workbook(*rows: list[Any], sheets: int = 1) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for _ in range(sheets - 1):
        book.create_sheet()
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def test_rows_of_a_spreadsheet_are_counted_with_the_header() -> None:
    task = find_task("fact-verification")
    rows = [["id", "claim", "label"], ["a", "c", "SUPPORTS"], ["b", "c", "MAYBE"], ["a", "c", "REFUTES"]]
    csv = "\n".join(",".join(row) for row in rows).encode()
    for name, content in (("gold.csv", csv), ("gold.xlsx", workbook(*rows))):
        with pytest.raises(GoldError) as error:
            task.read_gold(io.BytesIO(content), name, task.parse_options({}))
        found = [(problem.line, problem.what, problem.found) for problem in error.value.problems]
        assert (4, "duplicate id", '"a"') in found and 3 in [line for line, _, _ in found]
        assert str(error.value.problems[0]).startswith(f"{name}:")
    # A cell may have several lines of text: the number is that of the row.
    assert problems_of(b'id,x:json\n"a\nb",1\nc,?\n', "gold.csv") == [(3, "x is not valid", '"?"')]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [(None, "the file is empty", "0 bytes")]),
        (b"id\n", [(None, "the table has no rows", "only a header")]),
        (b"id,,x\n1,2,3\n", [(1, "column 2 has no name", "no text")]),
        (b"id,id\n1,2\n", [(1, "duplicate column", '"id"')]),
        (b"id,id:json\n1,2\n", [(1, "duplicate column", '"id"')]),
        (b"id;claim\n1;2\n", [(1, "wrong separator", "semicolons")]),
        (b"id,x\n1\n2,3\n", [(2, "too few cells", "1")]),
        (b"id,x\n1,2,3\n", [(2, "too many cells", "3")]),
        (b"id\n1\n\n2\n\n", [(3, "blank row", "no cells")]),
        (b"id\n\xe9\n", [(2, "not UTF-8", "0xe9")]),
        pytest.param(
            b"id,x\n1,2\n" + b"," * (1 << 20) + b"\n",
            [(3, "the row is too long", "over 1048576 characters on a line")],
            id="a long row",
        ),
        (b"sep=,\nid,x\n1,2\n", [(1, "the first row is not the header", '"sep="')]),
        (b"sep=;\nid,x\n1,2\n", [(1, "the first row is not the header", '"sep=;"')]),
        (b"My table\nid,x\n1,2\n", [(1, "the first row is not the header", '"My table"')]),
        (b"My table,,\nid,x,y\n1,2,3\n", [(1, "the first row is not the header", '"My table"')]),
        (b"# made by me, in 2026\nid,x,y\n1,2,3\n", [(1, "the first row is not the header", '"# made by me"')]),
        (b"\n\nid,x\n1,2\n", [(1, "the first row is not the header", "a blank row")]),
        (
            b'id,x\n1,"2\n',
            [(2, "the row cannot be read", "a quotation mark that opens a cell and is never closed")],
        ),
    ],
)
def test_invalid_tables(content: bytes, expected: list[tuple[int | None, str, str]]) -> None:
    assert problems_of(content, "gold.csv") == expected


def test_booleans_and_offers_of_columns() -> None:
    assert values_of(b"id,t:json\na,TRUE\nb,False\nc,true\n", "gold.csv") == [
        {"id": "a", "t": True}, {"id": "b", "t": False}, {"id": "c", "t": True},
    ]  # fmt: skip
    task = find_task("fact-checking")
    header = "id,subject,relation,object,label,slice:source"
    with pytest.raises(GoldError) as error:
        content = f"{header}\na,s,r,o,True,web\nb,s,r,p,False,web\n".encode()
        task.read_gold(io.BytesIO(content), "gold.csv", task.parse_options({}))
    assert {problem.expected for problem in error.value.problems} == {'true or false, in a column "label:json"'}
    content = f"{header.replace('label', 'label:json')}\na,s,r,o,True,web\nb,s,r,p,False,web\n".encode()
    gold = task.read_gold(io.BytesIO(content), "gold.csv", task.parse_options({}))
    assert gold.warnings == [
        'gold.csv: key "slice:source" is not part of the format, ignored in 2 rows, first in row 2; slices are an '
        'object in the column slices:json: {"source": ...}'
    ]


def test_csv_of_excel_and_trailing_blank_rows() -> None:
    assert values_of(b"\xef\xbb\xbfid,x\r\n007,\r\n,\r\n\r\n", "gold.csv") == [{"id": "007"}]
    assert values_of(workbook(["id", None], ["a"], [None, None]), "gold.XLSX") == [{"id": "a"}]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (1.5, "a number, 1.5"),
        (10**15, "a number, 1000000000000000"),
        (True, "a Boolean, true"),
        ("=1+1", "a formula"),
    ],
)
def test_what_excel_has_changed_is_no_text(cell: Any, found: str) -> None:
    assert problems_of(workbook(["id"], [cell]), "gold.xlsx") == [(2, "id is not valid", found)]


@pytest.mark.parametrize("number_format", ["000", "0.00E+00", "#,##0", "0%"])
def test_a_number_that_the_sheet_shows_in_another_way_is_no_text(number_format: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(["id"], [7])))
    book.active["A2"].number_format = number_format
    content = io.BytesIO()
    book.save(content)
    assert problems_of(content.getvalue(), "gold.xlsx") == [(2, "id is not valid", "a number, 7")]


def test_whole_numbers_of_a_workbook_are_ids_as_they_are_shown() -> None:
    content = workbook(["id", "claim", "label"], [7, "c", "SUPPORTS"], [100, 1984, "REFUTES"])
    assert [row["id"] for row in values_of(content, "gold.xlsx")] == ["7", "100"]
    task = find_task("fact-verification")
    gold = task.read_gold(io.BytesIO(content), "gold.xlsx", task.parse_options({}))
    assert gold.warnings == [
        'gold.xlsx: 2 numbers in column "id", first in row 2, are read as text; zeros that they began with are lost: '
        "format the column as text before you type",
        'gold.xlsx: 1 number in column "claim", in row 3, is read as text; zeros that it began with are lost: format '
        "the column as text before you type",
    ]


def test_dates_numbers_and_sheets_of_excel() -> None:
    import datetime

    day = workbook(["id"], [datetime.date(2026, 11, 23)])
    assert problems_of(day, "gold.xlsx") == [(2, "id is not valid", "a date")]
    assert values_of(workbook(["n:json", "t:json"], [7, True]), "gold.xlsx") == [{"n": 7, "t": True}]
    assert problems_of(workbook(["id"], ["a"], sheets=2), "x.xlsx")[0][1] == "wrong number of sheets"


def test_typed_columns_of_parquet() -> None:
    columns = {
        "id": ["a", "b"],
        "n": [2**60, None],
        "tags": [["x"], None],
        "day": pyarrow.array([0, 1], pyarrow.date32()),
    }
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({key: columns[key] for key in ("id", "n", "tags")}), content)
    assert values_of(content.getvalue(), "x.parquet") == [{"id": "a", "n": 2**60, "tags": ["x"]}, {"id": "b"}]
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({key: columns[key] for key in ("id", "day")}), content)
    assert problems_of(content.getvalue(), "x.parquet") == [(1, 'column "day" has another type', "date32[day]")]
    assert problems_of(b"PAR1 no", "x.parquet")[0][1] == "not a readable Parquet file"


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), content, **options)
    return content.getvalue()


def test_text_of_parquet_stays_text_and_no_number_is_lost() -> None:
    """pandas writes categories as a dictionary; JSON has no NaN, also not in a list."""
    categories = pyarrow.array(["7", None, "true"]).dictionary_encode()
    content = parquet({"id": ["007", "a", "b"], "label": categories, "x": [{"a": [0.1]}, {"a": None}, None]})
    expected = [
        {"id": "007", "label": "7", "x": {"a": [0.1]}},
        {"id": "a", "x": {"a": None}},
        {"id": "b", "label": "true"},
    ]
    assert values_of(content, "x.parquet") == expected
    found = [problem[:2] for problem in problems_of(parquet({"x": [0.5, float("inf")]}), "x.parquet")]
    assert found == [(3, "x is not valid")]
    found = [problem[:2] for problem in problems_of(parquet({"x": [[float("nan")]]}), "x.parquet")]
    assert found == [(2, "x is not valid")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(lambda: parquet({"x": ["x" * 3_000_000]}, compression="zstd"), TOO_LARGE, id="bytes"),
        pytest.param(
            lambda: parquet({"x": pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 50), ["x" * 100_000])}),
            TOO_LARGE,
            id="dictionary",
        ),
        pytest.param(lambda: parquet({str(index): ["x"] for index in range(1001)}), "too many columns", id="columns"),
        pytest.param(lambda: parquet({"x": pyarrow.array([None], NESTED)}), "not a readable Parquet file", id="nested"),
        pytest.param(lambda: parquet({"x": [b"x"]}), 'column "x" has another type', id="binary"),
        pytest.param(lambda: parquet({"x": ["x"]})[:-9] + b"\xff" * 9, "not a readable Parquet file", id="damaged"),
    ],
)
def test_hostile_parquet_files_are_refused(content: Callable[[], bytes], expected: str) -> None:
    hostile = content()
    assert len(hostile) < 1_000_000
    assert problems_of(hostile, "gold.parquet", ReadLimits(file_bytes=2_000_000))[0][1] == expected


def test_rows_and_values_of_parquet_are_limited_before_they_are_read() -> None:
    many = parquet({"x": ["x"] * 11})
    assert problems_of(many, "gold.parquet", ReadLimits(lines=10))[0][1:] == ("too many rows", "11")
    repeated = parquet({"x": [[None] * 2_000_000]})
    few = ReadLimits(file_bytes=15_000_000)
    assert problems_of(repeated, "gold.parquet", few) == [(None, TOO_LARGE, "16000000 bytes unpacked")]


def repacked(content: bytes, name: str, change: Any) -> bytes:
    """Return a workbook with one part changed."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, change(old.read(member)) if member == name else old.read(member))
    return written.getvalue()


LAUGHS = b"<!DOCTYPE x [" + b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 50) for i in range(1, 9)) + b"]>"


@pytest.mark.parametrize(
    "doctype",
    [b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', LAUGHS + b"<!-- &l8; -->"],
    ids=["xxe", "laughs"],
)
def test_entities_of_a_workbook_are_refused(doctype: bytes) -> None:
    def evil(part: bytes) -> bytes:
        entity = b"&e;" if b"passwd" in doctype else b"&l8;"
        return part.replace(b"<worksheet", doctype + b"<worksheet", 1).replace(b"<v>0</v>", b"<v>" + entity + b"</v>")

    content = repacked(workbook(["id"], ["a"]), "xl/worksheets/sheet1.xml", evil)
    (problem,) = problems_of(content, "gold.xlsx")
    assert problem[1] == "not a readable XLSX file" and "root:" not in str(problem)


def test_a_zip_bomb_and_damaged_workbooks_are_refused() -> None:
    bomb = repacked(workbook(["id"], ["a"]), "xl/worksheets/sheet1.xml", lambda part: part + b" " * 30_000_000)
    assert len(bomb) < 50_000
    assert problems_of(bomb, "gold.xlsx", ReadLimits(file_bytes=30_000_000))[0][1] == "the workbook is too large"
    whole = workbook(["id"], ["a"])
    for content in (b"PK\x03\x04", whole[:-20], whole.replace(b"xl/", b"yl/"), b"text"):
        assert problems_of(content, "gold.xlsx")[0][1] == "not a readable XLSX file"
    assert problems_of(whole, "gold.xlsx", ReadLimits(file_bytes=100))[0][1] == "the file is too large"


CELL = '<c r="A2" t="n"><v>1</v></c>'
STYLES = "<cellXfs>" + '<xf numFmtId="0"/>' * 300_000 + "</cellXfs>"
XLSX_BOMBS = {
    "a row beyond the end": (f'<row r="{10**18}"><c r="A{10**18}"><v>1</v></c></row>', "too many rows"),
    "the last row but a cell in none before": ('<row r="1048577"><c><v>1</v></c></row>', "too many rows"),
    "column XFD": ('<row r="2"><c r="XFD2"><v>1</v></c></row>', "too many columns"),
    "column ZZZ": ('<row r="2"><c r="ZZZ2"><v>1</v></c></row>', "too many columns"),
    "rows in another order": (f'<row r="3">{CELL.replace("A2", "A3")}</row><row r="2">{CELL}</row>', "not a readable"),
    "a row twice": (f'<row r="2">{CELL}</row><row r="2">{CELL}</row>', "not a readable XLSX file"),
    "a cell twice": (f'<row r="2">{CELL}{CELL}</row>', "not a readable XLSX file"),
    "a cell of another row": (f'<row r="3">{CELL}</row>', "not a readable XLSX file"),
    "a million cells in a row": (f'<row r="2">{"<c/>" * 1_000_000}</row>', "too many cells"),
}


@pytest.mark.parametrize("name", XLSX_BOMBS)
def test_a_workbook_with_cells_in_impossible_places_is_refused_before_they_are_read(name: str) -> None:
    rows, expected = XLSX_BOMBS[name]
    content = repacked(
        workbook(["id"]),
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace(b"</sheetData>", rows.encode() + b"</sheetData>"),
    )
    (problem,) = problems_of(content, "gold.xlsx")
    assert problem[1].startswith(expected)


def test_numbers_of_a_workbook_are_numbers_of_json() -> None:
    """A number beyond float64 does not become null, and a shared formula is not rewritten for each of its cells."""
    sheet = "xl/worksheets/sheet1.xml"
    content = workbook(["n:json"], [7])
    for number in (b"1e999", b"-1E400", b"NaN", b"9" * 5000):
        broken = repacked(content, sheet, lambda part, number=number: part.replace(b"<v>7</v>", b"<v>%s</v>" % number))
        assert problems_of(broken, "gold.xlsx")
    formula = b'<c r="A%d"><f t="shared" si="0"%s</c>'
    rows = b"".join(
        b'<row r="%d">%s</row>' % (row, formula % (row, b">" + b"A1+" * 2000 + b"1</f>" if row == 2 else b"/>"))
        for row in range(2, 300)
    )
    shared = repacked(workbook(["id"]), sheet, lambda part: part.replace(b"</sheetData>", rows + b"</sheetData>"))
    assert problems_of(shared, "gold.xlsx")[0] == (2, "id is not valid", "a formula")


def test_what_a_workbook_has_besides_cells_is_not_read_or_limited() -> None:
    merged = b"<mergeCells>" + b'<mergeCell ref="A1:XFD1048576"/>' * 300_000 + b"</mergeCells>"
    sheet = "xl/worksheets/sheet1.xml"
    content = repacked(
        workbook(["id"], ["a"]), sheet, lambda part: part.replace(b"</sheetData>", b"</sheetData>" + merged)
    )
    limits = ReadLimits()
    lines, _ = read_lines(io.BytesIO(content), "gold.xlsx", limits)
    assert [line.value for line in lines] == [{"id": "a"}]
    content = repacked(
        workbook(["id"], ["a"]), "xl/styles.xml", lambda part: part.replace(b"</styleSheet>", STYLES.encode())
    )
    assert problems_of(content, "gold.xlsx", limits)[0][1] == "the workbook has too many formats"
    lies = repacked(workbook(["id"], ["a"]), sheet, lambda part: part.replace(b'ref="A1:A2"', b'ref="A1:XFD1048576"'))
    assert values_of(lies, "gold.xlsx") == [{"id": "a"}]


def test_an_early_error_hides_no_later_one() -> None:
    """A table has as many problems as the same gold in JSON Lines, whatever is wrong above."""
    task = find_task("fact-verification")

    def problems(rows: list[tuple[str, str]], kind: str) -> tuple[int, list[int | None]]:
        lines = [
            {"id": str(number), "claim": claim, "label": label, "evidence_text": "e" * 150}
            for number, (claim, label) in enumerate(rows)
        ]
        lines = [{key: value for key, value in line.items() if value} for line in lines]
        encoded = [json.dumps(line).encode() + b"\n" for line in lines]
        content = b"".join(encoded) if kind == "jsonl" else write_table(encoded, kind)
        with pytest.raises(GoldError) as error:
            task.read_gold(io.BytesIO(content), f"gold.{kind}", task.parse_options({}))
        numbers = [problem.line - (kind != "jsonl") for problem in error.value.problems if problem.line]
        return len(error.value.problems) + error.value.more, numbers

    missing = [("", "SUPPORTS")] * 2000
    late = [("c", "SUPPORTS")] * 2000
    late[2], late[1999] = ("c", "MAYBE"), ("", "SUPPORTS")
    for kind in ("jsonl", *FORMATS):
        assert problems(missing, kind) == (2000, list(range(1, 101))), kind
        assert problems(late, kind) == (2, [3, 2000]), kind


def test_an_unreadable_row_is_one_problem_and_hides_no_other() -> None:
    task = find_task("fact-verification")
    content = b"id,claim,label,slices:json\nc1,x,SUPPORTS,?\nc2,x,MAYBE,\nc3,x\nc4,x,REFUTES,,,y\nc5,,REFUTES,\n"
    with pytest.raises(GoldError) as error:
        task.read_gold(io.BytesIO(content), "gold.csv", task.parse_options({}))
    assert [problem.line for problem in error.value.problems] == [2, 3, 4, 5, 6]


def test_predictions_are_no_tables() -> None:
    problems = ProblemList("predictions.csv", PredictionError)
    assert b"".join(line_chunks(io.BytesIO(b"id,x\n1,2\n"), ReadLimits(), problems)) == b"id,x\n1,2\n"


def test_a_written_workbook_has_no_date_of_today() -> None:
    with zipfile.ZipFile(io.BytesIO(write_table([b'{"id": "a"}'], "xlsx"))) as archive:
        assert b">2000-01-01T00:00:00Z<" in archive.read("docProps/core.xml")
        assert {member.date_time[0] for member in archive.infolist()} == {1980}


def test_what_a_table_cannot_hold_is_refused() -> None:
    long = json.dumps({"id": "x" * 32_768}).encode()
    with pytest.raises(UsageError, match="more than a cell of XLSX"):
        write_table([long], "xlsx")
    assert values_of(write_table([long], "csv"), "x.csv") == [json.loads(long)]
    with pytest.raises(UsageError, match="empty key"):
        write_table([b'{"": 1}'], "csv")


def test_the_columns_of_each_task_are_documented() -> None:
    """docs/curators.md lists the columns that the samples of each task get, and which of them are JSON."""
    table = {cells[1].strip(" `"): cells[2:4] for line in CURATORS.splitlines() if len(cells := line.split("|")) == 5}
    for task in TASKS.built_in:
        texts, jsons = (set(re.findall("`([^`]+)`", cell)) for cell in table[task])
        for gold, _ in TASKS[task].samples:
            header = write_table(gold.splitlines(), "csv").decode().splitlines()[0].split(",")
            keys = {name.removesuffix(":json"): name.endswith(":json") for name in header}
            keys.pop("id", None)  # an integer in some samples
            assert {key for key, is_json in keys.items() if is_json} <= jsons, task
            assert {key for key, is_json in keys.items() if not is_json} <= texts, task


def test_a_key_that_differs_in_case_alone_is_named_with_the_one_of_the_format() -> None:
    task = find_task("fact-verification")
    content = b"id,claim,label,Group\nc1,x,SUPPORTS,g\nc2,y,REFUTES,h\n"
    (warning,) = task.read_gold(io.BytesIO(content), "gold.csv", task.parse_options({})).warnings
    assert '"Group"' in warning and warning.endswith('; the format has "group"')
