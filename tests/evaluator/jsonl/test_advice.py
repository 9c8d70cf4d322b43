"""What error messages advise is done, and changes no value."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

from evaluator.client.frames import json_lines
from evaluator.curation.io.lines import read_lines
from evaluator.errors import FileError, GoldError, PredictionError
from evaluator.jsonl import other_formats, separated_values
from tests.conftest import ROOT

NUMBERS = [3e-12, 1e-12, 1e-15, 5e-324, 1e300, 1.7976931348623157e308, 0.1 + 0.2, 1 / 3, -0.0, 123456789.123456789]
INTEGERS = [2**53 + 1, -(2**53) - 1, 2**63 - 1, 0, 1, 7, 10**15, -1, 10**18 + 1, 42]
ROWS = [
    {"id": f"id {n}", "n": whole, "score": number}
    for n, (whole, number) in enumerate(zip(INTEGERS, NUMBERS, strict=True))
]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
ADVICE = re.compile(r"as (file\.write\(.*?\)) writes in Python for each row(?: of (.*))?$")


def values_of(content: bytes, name: str = "gold.jsonl") -> list[dict[str, Any]]:
    lines, problems = read_lines(io.BytesIO(content), name)
    problems.raise_if_any()
    return [line.value for line in lines]


def assert_the_same(content: bytes) -> None:
    """Assert that JSON Lines have the values of ROWS: types, signs and last digits, too."""
    assert [list(map(repr, row.values())) for row in values_of(content)] == [
        list(map(repr, row.values())) for row in ROWS
    ]


def advice_on(content: bytes) -> str:
    """Return what is expected, according to the message, instead of predictions with this content."""
    with pytest.raises(PredictionError) as refused:
        read_lines(io.BytesIO(content), "p.jsonl", error=PredictionError)
    return refused.value.problems[-1].expected


def written_by(advice: str, rows: Any, **names: Any) -> bytes:
    """Return what the code in the advice writes. rows: what it goes through if it names nothing."""
    match = ADVICE.search(advice)
    assert match, advice
    file = io.StringIO()
    scope = {"json": json, "file": file, **names}
    for row in eval(match[2], scope) if match[2] else rows:
        exec(match[1], {**scope, "row": row})
    return file.getvalue().encode()


FRAME = pandas.DataFrame(ROWS)
OTHERS: dict[str, Callable[[], bytes]] = {
    "array": lambda: json.dumps(ROWS).encode(),
    "indented array": lambda: json.dumps(ROWS, indent=2).encode(),
    "indented objects": lambda: b"\n".join(json.dumps(row, indent=2).encode() for row in ROWS),
    "objects on one line": lambda: LINES.replace(b"\n", b""),
    "CSV": lambda: FRAME.to_csv(index=False).encode(),
    "TSV": lambda: FRAME.to_csv(index=False, sep="\t").encode(),
    "CSV with semicolons": lambda: FRAME.to_csv(index=False, sep=";").encode(),
    "Parquet": FRAME.to_parquet,
    "YAML": lambda: b"- id: 1\n  score: 3e-12\n",
}


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument is deprecated")  # pandas 3.1 needs it no more
@pytest.mark.parametrize("name", OTHERS)
def test_the_code_that_is_advised_keeps_every_digit(name: str, tmp_path: Path) -> None:
    content = OTHERS[name]()
    advice = advice_on(content)
    name = tmp_path / "name"
    name.write_bytes(content)
    assert_the_same(written_by(advice, ROWS, pandas=pandas, name=str(name), array=io.BytesIO(content)))


def test_the_command_that_is_advised_for_a_json_text_sequence() -> None:
    content = b"".join(b"\x1e" + line + b"\n" for line in LINES.splitlines())
    command = re.search(r"which (tr -d '\\036') removes", advice_on(content))
    assert command
    assert_the_same(subprocess.run(["sh", "-c", command[1]], input=content, capture_output=True, check=True).stdout)


def test_the_encoding_that_is_advised(tmp_path: Path) -> None:
    call = re.search(r"which (open\(.*?\)) writes", other_formats.EXPECTED_ENCODING)
    assert call and advice_on(LINES.decode().encode("utf-16")) == other_formats.EXPECTED_ENCODING
    name = str(tmp_path / "p.jsonl")
    with eval(call[1], {"name": name}) as file:
        file.write(LINES.decode())
    assert_the_same(Path(name).read_bytes())


def test_the_way_of_quoting_that_is_advised() -> None:
    cell = re.search(r"as in (\".*?\");", separated_values.EXPECTED_MARKS)
    assert cell
    assert values_of(f"id,claim\nc1,{cell[1]}\n".encode(), "gold.csv") == [{"id": "c1", "claim": '5.25" drive'}]


def test_the_client_keeps_every_digit_of_a_frame() -> None:
    assert_the_same(json_lines(FRAME))
    assert_the_same(json_lines(ROWS))
    (half,) = values_of(json_lines(pandas.DataFrame({"score": [0.1]}, dtype="float32")))
    assert half["score"] == math.ldexp(13421773, -27)  # the nearest number of 32 bits


def messages() -> Iterator[Path]:
    for folder in ("evaluator", "leaderboard", "docs", "holdout_eval"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".html", ".txt") and not {"adr", "node_modules"} & set(path.parts):
                yield path


def test_nothing_advises_what_changes_numbers() -> None:
    """Of pandas, `to_json` has 15 decimals at most, `read_csv` may get the last digit wrong, and jq 1.6 has doubles."""
    advised = re.compile(r"\.to_json\(|\bread_csv\((?!.*round_trip)|jq -c|\b(?:pandas|pd)\.read_json\(")
    found = [str(path) for path in messages() if advised.search(path.read_text(errors="replace"))]
    assert found == []


@pytest.mark.parametrize("error", [GoldError, PredictionError])
def test_every_message_about_a_format_says_what_to_do(error: type[FileError]) -> None:
    for content in (
        b"PK\x03\x04",
        b"PAR1",
        b"\xfd7zXZ\0",
        b"\x93NUMPY",
        b"%PDF-1",
        b"version https://git-lfs.github.com/spec/v1",
    ):
        with pytest.raises(error) as refused:
            read_lines(io.BytesIO(content + b"\n" * 20), "file", error=error)
        assert refused.value.problems[0].expected
