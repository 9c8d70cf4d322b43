"""A column added to `row_columns` appears in every format of a board, escaped as each format needs it."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from leaderboard.boards.api.boards import RowSerializer
from leaderboard.boards.queries import columns
from leaderboard.boards.queries.columns import RowColumn
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
PAGE = "/benchmarks/tiny/test/"
TEXT = "=1 & <b>"


def _text(address: str) -> str:
    answer = Client().get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_one_line_adds_a_column_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    stand(build(), "First", description=TEXT)
    assert "In short" not in _text(PAGE) + _text(f"{API}.tex") + _text(f"{API}.md")
    added = RowColumn("about", str, attribute="description", csv=8, text="In short", page="In short", help="its words")
    monkeypatch.setattr(columns, "COLUMNS", (*columns.COLUMNS, added))

    (row,) = Client().get(f"{API}/").json()["rows"]
    assert row["about"] == TEXT
    assert list(row) == list(RowSerializer().fields) and RowSerializer().fields["about"].help_text == "its words"
    (line,) = csv.DictReader(io.StringIO(_text(f"{API}.csv")))
    assert line["about"] == f"'{TEXT}"
    latex, markdown = _text(f"{API}.tex"), _text(f"{API}.md")
    assert "Rank & System & Team & In short & " in latex and r"=1 \& \textless{}b\textgreater{} & " in latex
    assert "| Rank | System | Team | In short | " in markdown and "| =1 &amp; &lt;b&gt; | " in markdown
    page = _text(PAGE)
    assert read(page).faults == [] and '<th scope="col">In short</th>' in page
    assert "<td>=1 &amp; &lt;b&gt;</td>" in page
    assert "<td>=1 &amp; &lt;b&gt;</td>" not in _text(f"{PAGE}?columns=accuracy")


def test_each_position_in_the_csv_is_used_once() -> None:
    positions = [column.csv for column in columns.COLUMNS if column.csv]
    assert len(positions) == len(set(positions))
