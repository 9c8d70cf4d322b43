"""Files in another format than JSON Lines are reported with one problem, which names the format."""

from __future__ import annotations

import io
import json

import pytest

from evaluator.cli.output import print_problems
from evaluator.curation.io.lines import read_lines
from evaluator.errors import GoldError, PredictionError, ProblemList, group_problems
from evaluator.tasks.registry import TASKS

ROWS = [{"id": number, "predicted_label": "SUPPORTS"} for number in range(40)]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
CSV = "id,predicted_label\n" + "".join(f"{row['id']},SUPPORTS\n" for row in ROWS)
OTHER = {
    "CSV": (CSV.encode(), "the file is CSV"),
    "CSV of a spreadsheet": (b"\xef\xbb\xbf" + CSV.replace(",", ";").encode(), "the file is CSV"),
    "TSV": (CSV.replace(",", "\t").encode(), "the file is TSV"),
    "quoted CSV": (b'"id","predicted_label"\n"1","SUPPORTS"\n', "the file is CSV"),
    "array": (json.dumps(ROWS).encode(), "the file is one JSON array"),
    "array with a line per item": (b"[\n" + LINES.replace(b"}\n", b"},\n") + b"]\n", "the file is one JSON array"),
    "indented array": (json.dumps(ROWS, indent=2).encode(), "the file is one JSON array"),
    "indented objects": (b"\n".join(json.dumps(row, indent=2).encode() for row in ROWS), "the JSON is indented"),
    "indented with tabs": (json.dumps(ROWS[0], indent="\t").encode(), "the JSON is indented"),
    "ZIP": (b"PK\x03\x04\x14\0\0\0\x08\0" + b"\n" * 90, "the file is a ZIP archive"),
    "HTML": (b"<!DOCTYPE html>\n<html><body>Log in</body></html>\n", "the file is an HTML or XML page"),
    "UTF-16": (LINES.decode().encode("utf-16-le"), "wrong encoding"),
}
FAULTY_LINES = {
    "a first line like CSV": b"id,predicted_label\n" + LINES,
    "a first line that is a list": b'[{"id": 1}]\n' + LINES,
    "a NUL in the first line": LINES.replace(b"{", b"{\0", 1),
    "an indented second line": LINES.replace(b"\n", b"\n  ", 1),
}


def read(content: bytes) -> None:
    task = TASKS["fact-verification"]
    options = task.parse_options({})
    inputs = b"".join(b'{"id": %d, "claim": "c", "evidence_text": "e"}\n' % row["id"] for row in ROWS)
    known = task.read_inputs(io.BytesIO(inputs), "inputs.jsonl", options, {})
    task.read_predictions(io.BytesIO(content), "p.jsonl", known, options)


@pytest.mark.parametrize("name", OTHER)
def test_another_format_is_one_problem(name: str) -> None:
    content, what = OTHER[name]
    with pytest.raises(PredictionError) as refused:
        read(content)
    problem = refused.value.problems[-1]
    assert problem.what.startswith(what) and problem.expected
    assert len(refused.value.problems) == (2 if content.startswith(b"\xef\xbb\xbf") else 1) and refused.value.more == 0
    if name != "CSV of a spreadsheet":
        with pytest.raises(GoldError, match=what):
            read_lines(io.BytesIO(content), "raw.jsonl")


@pytest.mark.parametrize("name", FAULTY_LINES)
def test_a_faulty_line_does_not_condemn_the_file(name: str) -> None:
    try:
        read(FAULTY_LINES[name])
    except PredictionError as error:
        assert all(problem.line == 1 for problem in error.problems if problem.line)


def test_nan_on_the_last_line_is_not_an_incomplete_line() -> None:
    with pytest.raises(PredictionError, match=r"p.jsonl:40: not valid JSON, found NaN, expected a finite number"):
        read(LINES[:-1].replace(b'39, "predicted_label": "SUPPORTS"', b'39, "predicted_label": NaN'))


@pytest.mark.parametrize(
    ("key", "is_suggested"), [("label", True), ("predictedLabel", True), ("prediction", True), ("answer", False)]
)
def test_a_missing_key_names_the_present_ones_and_suggests_one_that_is_alike(key: str, is_suggested: bool) -> None:
    with pytest.raises(PredictionError) as refused:
        read(LINES.replace(b"predicted_label", key.encode()))
    first = refused.value.problems[0]
    assert (first.what, first.found) == ("predicted_label is missing", f'the keys "id", "{key}"')
    assert first.expected == "predicted_label" + (f' (rename "{key}"?)' if is_suggested else "")
    assert [problem.count for problem in refused.value.problems] == [40] * 40


def test_counts_include_the_problems_that_are_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    problems = ProblemList("p.jsonl", PredictionError)
    for number in range(1, 481):
        problems.add(number, "unknown id", f'"x{number}"', "an id of the inputs")
    problems.add(None, "480 ids are missing")
    with pytest.raises(PredictionError) as refused:
        problems.raise_if_any()
    rows = [problem.as_dict() for problem in refused.value.problems]
    (group,) = group_problems(rows)
    assert (group.count, len(group.rows), group.found) == (480, 100, "")
    print_problems(rows, refused.value.more)
    assert capsys.readouterr().err.splitlines() == [
        'p.jsonl:1: unknown id, found "x1", expected an id of the inputs',
        "p.jsonl: unknown id on 480 lines in all: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...",
        "and 1 more problem",
    ]
