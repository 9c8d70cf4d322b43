"""Files in another format than JSON Lines are reported with one problem, which names the format."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
import zlib
from typing import Any

import numpy as np
import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from evaluator.cli.output import print_problems
from evaluator.curation.io.lines import read_lines
from evaluator.errors import GoldError, PredictionError, ProblemList, group_problems
from evaluator.tasks.registry import TASKS

ROWS = [{"id": number, "predicted_label": "SUPPORTS"} for number in range(40)]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
CSV = "id,predicted_label\n" + "".join(f"{row['id']},SUPPORTS\n" for row in ROWS)


def packed_in(kind: str, name: str, content: bytes) -> bytes:
    """Return an archive with one file. kind: `zip`, or a mode of `tarfile`."""
    archive = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as members:
            members.writestr(name, content)
    else:
        with tarfile.open(fileobj=archive, mode=kind) as members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            members.addfile(info, io.BytesIO(content))
    return archive.getvalue()


def saved(write: Any) -> bytes:
    """Return what `write` writes into a file."""
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["id", "predicted_label"])
    return saved(book.save)


def database() -> bytes:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table rows (id)")
        return connection.serialize()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
ODS = packed_in("zip", "mimetype", b"application/vnd.oasis.opendocument.spreadsheet")
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
PARQUET = saved(lambda file: pyarrow.parquet.write_table(pyarrow.table({"id": ["a"]}), file))
PICKLED = {protocol: pickle.dumps(ROWS, protocol) for protocol in (0, 2, 4, 5)}
TAR = packed_in("w", "p.jsonl", LINES)
BINARY = {
    "tar": (TAR, "the file is a tar archive"),
    "tar.gz": (gzip.compress(TAR), "the file is a tar archive"),
    "xz": (lzma.compress(LINES), "the file is packed by xz"),
    "LZMA": (lzma.compress(LINES, lzma.FORMAT_ALONE), "the file is packed by LZMA"),
    "lzip": (b"LZIP\x01\x0c" + lzma.compress(LINES)[6:], "the file is packed by lzip"),
    "zlib": (zlib.compress(LINES), "the file is packed by zlib"),
    "bzip2": (bz2.compress(LINES), "the file is packed by bzip2"),
    "Zstandard": (b"\x28\xb5\x2f\xfd\x24\x02\x11\0\0{}\x7c\x05", "the file is packed by Zstandard"),
    "LZ4": (b"\x04\x22\x4d\x18\x64\x40\xa7", "the file is packed by LZ4"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4", "the file is a 7z archive"),
    "Parquet": (PARQUET, "the file is Parquet"),
    "XLSX": (workbook(), "the file is an XLSX workbook"),
    "XLS": (OLE, "the file is an Excel workbook"),
    "ODS": (ODS, "the file is an OpenDocument spreadsheet"),
    "ZIP of lines": (packed_in("zip", "p.jsonl", LINES), "the file is a ZIP archive"),
    "npy": (saved(lambda file: np.save(file, np.arange(9))), "the file is an array of NumPy"),
    "npz": (saved(lambda file: np.savez(file, a=np.arange(9))), "the file is an archive of NumPy arrays"),
    **{f"pickle {protocol}": (content, "the file is a pickle") for protocol, content in PICKLED.items()},
    "SQLite": (database(), "the file is an SQLite database"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "the file is a PDF"),
    "HDF5": (b"\x89HDF\r\n\x1a\n\0\0", "the file is HDF5"),
    "Git LFS": (LFS, "the file is a pointer of Git LFS"),
    "UTF-16 with a byte order mark": (LINES.decode().encode("utf-16"), "wrong encoding"),
    "UTF-16 of the other order": (b"\xfe\xff" + LINES.decode().encode("utf-16-be"), "wrong encoding"),
}
TEXT = {
    "RFC 7464": (b"".join(b"\x1e" + line + b"\n" for line in LINES.splitlines()), "the file is a JSON text sequence"),
    "several objects on a line": (LINES.replace(b"}\n{", b"}{"), "several JSON objects are on one line"),
    "YAML": (b"- id: 1\n  predicted_label: SUPPORTS\n- id: 2\n", "the file is YAML"),
    "YAML of one mapping": (b"---\npredictions:\n  - id: 1\n", "the file is YAML"),
    "a saved page to log in": (b"<!-- saved -->\n<html lang=en><title>Log in</title>", "the file is an HTML"),
}
OTHER = {
    "MessagePack": (b"\x82\xa2id\xa1a\xa5score\x01" * 20, "the file is not text"),
    "CBOR": (b"\xa2bidaaescore\x01" * 20, "the file is not text"),
    "TFRecord": (b"\x10" + b"\0" * 7 + b"crc4" + b"\n\x0ehello", "the file is not text"),
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


def read(content: bytes, name: str = "p.jsonl") -> None:
    task = TASKS["fact-verification"]
    options = task.parse_options({})
    inputs = b"".join(b'{"id": %d, "claim": "c", "evidence_text": "e"}\n' % row["id"] for row in ROWS)
    known = task.read_inputs(io.BytesIO(inputs), "inputs.jsonl", options, {})
    task.read_predictions(io.BytesIO(content), name, known, options)


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


def one_problem(content: bytes, name: str, error: type[Exception]) -> str:
    """Return the only problem of a file: of predictions, or of gold that is read with its bytes."""
    with pytest.raises(error) as refused:
        if error is PredictionError:
            read(content, name)
        else:
            read_lines(io.BytesIO(content), name)
    (problem,) = refused.value.problems
    assert problem.expected and refused.value.more == 0
    return problem.what


@pytest.mark.parametrize("name", [*BINARY, *TEXT])
def test_every_reader_names_the_format(name: str) -> None:
    """Predictions and gold, under its own name, under that of a table, and as what gzip has packed."""
    content, what = (BINARY | TEXT)[name]
    suffix = ".gz" if content.startswith(b"\x1f\x8b") else ""
    assert one_problem(content, f"p.jsonl{suffix}", PredictionError).startswith(what)
    assert one_problem(content, f"gold.jsonl{suffix.upper()}", GoldError).startswith(what)
    if name not in BINARY:
        return
    if not suffix:
        assert one_problem(content, "p.jsonl.gz", PredictionError).startswith(what)
        assert one_problem(gzip.compress(content), "p.jsonl.GZ", PredictionError).startswith(what)
    assert one_problem(content, f"gold.csv{suffix}", GoldError).startswith(what)
    if name not in ("XLSX", "ZIP of lines") and not suffix:
        assert one_problem(content, "gold.xlsx", GoldError).startswith(what)
    if name != "Parquet" and not suffix:
        assert one_problem(content, "gold.parquet", GoldError).startswith((what, "not a readable Parquet file"))


def test_gold_in_a_table_of_another_name_is_told_its_name() -> None:
    lines = b'{"id": "a"}\n'
    for content, name, suffix in (
        (PARQUET, "gold.jsonl", ".parquet"),
        (workbook(), "gold.jsonl", ".xlsx"),
        (workbook(), "gold.csv", ".xlsx"),
        (lines, "gold.csv", ".jsonl"),
        (lines, "gold.xlsx", ".jsonl"),
        (CSV.encode(), "gold.jsonl", ".csv"),
        (CSV.encode(), "gold.xlsx", ".csv"),
        (CSV.replace(",", "\t").encode(), "gold.jsonl", ".tsv"),
    ):
        with pytest.raises(GoldError, match=f"expected a name that ends in {suffix}$"):
            read_lines(io.BytesIO(content), name)


def test_gzip_is_known_by_the_name_in_upper_case_too() -> None:
    read(gzip.compress(LINES), "p.JSONL.GZ")
    with pytest.raises(PredictionError, match=r"the file is not compressed, although its name ends in \.gz"):
        read(LINES, "p.jsonl.gz")


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
