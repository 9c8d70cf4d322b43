"""A board as text cells, for human-readable formats: LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluator.statistics import confidence
from leaderboard.boards.queries import Board, Key, Row, ShownScore, label
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.queries.columns import RowColumn
from leaderboard.boards.web.tables.number_format import shown_value


@dataclass(frozen=True)
class Line:
    """One system's line of a text table.

    texts: (text, marks) for each row column; the marks are remarks to be shown behind the text, such as "baseline".
    scores: (value, interval) for each score column, formatted; an empty text stands for a missing value or interval.
    """

    texts: Sequence[tuple[str, Sequence[str]]]
    scores: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class TextTable:
    """A board's table as unescaped texts, which each format must escape. headings: of the score columns."""

    caption: str
    columns: Sequence[RowColumn]
    headings: Sequence[str]
    lines: Sequence[Line]


def build(board: Board, rows: Sequence[Row], keys: Sequence[Key]) -> TextTable:
    """Return the table of these rows with the score columns `keys`; scores have the decimals of web pages."""
    columns = row_columns.text_columns()
    lines = [
        Line(
            texts=[_text(row, column) for column in columns],
            scores=[_texts(row.score(*key)) for key in keys],
        )
        for row in rows
    ]
    return TextTable(_caption(board, lines), columns, [_heading(board, key) for key in keys], lines)


def _text(row: Row, column: RowColumn) -> tuple[str, Sequence[str]]:
    """Return the row's cell in a column as (text, marks).

    The marks of a system's name are its track and the reason why it does not compete.
    """
    if column.name == "rank":
        return _rank(row), ()
    if column.name == "system":
        exclusion = "disqualified" if row.disqualified else "" if row.competes else row.kind
        return row.system, [mark for mark in (row.track_title, exclusion) if mark]
    value = column.value(row)
    return "" if value is None else str(value), ()


def _rank(row: Row) -> str:
    if row.rank is None:
        return ""
    rank = f"{row.rank}{'=' if row.tied else ''}"
    return rank if row.rank_low is None else f"{rank} ({row.rank_low}\N{EN DASH}{row.rank_high})"


def _heading(board: Board, key: Key) -> str:
    n = board.n(*key)
    return label(key) if n is None else f"{label(key)}, n {n}"


def _texts(score: ShownScore) -> tuple[str, str]:
    if score.value is None:
        return "", ""
    low, high, places = score.low, score.high, score.decimals
    ends = "" if low is None or high is None else f"[{_number(low, places)}, {_number(high, places)}]"
    if score.bounds is not None:
        return shown_value(score).replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " "), ""
    return _number(score.value, places), ends


def _number(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def _caption(board: Board, lines: Sequence[Line]) -> str:
    """Return a caption for a paper's table: benchmark, split, versions, date and kind of interval."""
    phase, leaderboard = board.phase, board.leaderboard
    parts = [f"{phase.benchmark.title}, {phase.title}", f"split {phase.split.name}"]
    if leaderboard is not None:
        parts.append(f"gold version {leaderboard.gold_version.number}, task version {leaderboard.task_version}")
    if board.rows:
        parts.append(f"results of {max(row.released_at for row in board.rows).date().isoformat()}")
    if any(ends for line in lines for _, ends in line.scores):
        parts.append(f"{confidence.percent()} intervals by resampling groups")
    return "; ".join(parts)
