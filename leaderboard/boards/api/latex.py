"""A board as a LaTeX table for the package booktabs."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from leaderboard.boards.api.text_table import Line, TextTable
from leaderboard.boards.queries.columns import RowColumn
from leaderboard.core.text.latex_text import escaped
from leaderboard.core.text.plain_text import one_line

UNBROKEN, PIECE = 24, 8
"""Words longer than UNBROKEN characters get a break opportunity after every PIECE characters."""
LONG = 40
"""Columns that contain a text longer than LONG characters get a fixed width, in which the text wraps."""


def written(table: TextTable, name: str) -> str:
    r"""Return the source of a `table` environment with the label tab:NAME. name: letters, digits and hyphens."""
    widths = (_width([line.texts[i][0] for line in table.lines]) for i in range(len(table.columns)))
    heads = [*(column.text for column in table.columns), *map(escaped, table.headings)]
    return "\n".join(
        [
            "% Needs the package booktabs, and fontenc with T1 for Latin letters beyond English.",
            "% Names in other letters need XeLaTeX or LuaLaTeX with a font for them.",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(table.caption)}.}}",
            rf"\label{{tab:{name}}}",
            rf"\begin{{tabular}}{{{''.join(widths)}{'r' * len(table.headings)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *(_line(table, line) for line in table.lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _width(texts: Sequence[str]) -> str:
    return r"p{0.32\linewidth}" if any(len(one_line(text)) > LONG for text in texts) else "l"


def _line(table: TextTable, line: Line) -> str:
    texts = (_text(column, *text) for column, text in zip(table.columns, line.texts, strict=True))
    return " & ".join([*texts, *(_cell(*cell) for cell in line.scores)]) + r" \\"


def _text(column: RowColumn, text: str, marks: Sequence[str]) -> str:
    shown = _breakable(text) or "--"
    if column.is_number:
        shown = shown.replace("\N{EN DASH}", "--")
    return shown + (rf" \textit{{({', '.join(map(escaped, marks))})}}" if marks else "")


def _breakable(name: str) -> str:
    """Return the escaped name with break opportunities in long words."""
    words = (_pieces(word) if len(word) > UNBROKEN else [word] for word in one_line(name).split(" "))
    return " ".join(r"\allowbreak{}".join(map(escaped, pieces)) for pieces in words)


def _pieces(word: str) -> list[str]:
    """Split a word into pieces of PIECE characters. A combining mark stays with the character before it."""
    pieces = [""]
    for char in word:
        if len(pieces[-1]) >= PIECE and not unicodedata.combining(char):
            pieces.append("")
        pieces[-1] += char
    return pieces


def _cell(value: str, ends: str) -> str:
    if not value:
        return "--"
    # In math mode a minus is not rendered as a hyphen.
    value = value.replace("≥", r"\geq").replace("≤", r"\leq").replace(" to ", r"$ to $")
    return f"${value}$" + (rf" {{\scriptsize $[{ends[1:-1]}]$}}" if ends else "")
