"""A board as a Markdown table, as GitHub and Pandoc read it."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.api.text_table import Line, TextTable
from leaderboard.core.plain_text import one_line, turns_round

_SIGNS = set("\\`*_[]#!|~$@")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
NONE = "\N{EN DASH}"


def escaped(text: str) -> str:
    """One line that reads as it stands: no sign of it is markup, ends the cell, or turns its neighbours round."""
    plain = one_line(text)
    marked = "".join(_ENTITIES.get(sign, f"\\{sign}" if sign in _SIGNS else sign) for sign in plain)
    # First-strong isolate: what is written from right to left stays within its cell.
    return f"\u2068{marked}\u2069" if turns_round(plain) else marked


def written(table: TextTable) -> str:
    """The table, and beneath it what it rests on."""
    heads = [*(column.text for column in table.columns), *map(escaped, table.headings)]
    rules = [*("---:" if c.is_number else ":---" for c in table.columns), *("---:" for _ in table.headings)]
    lines = [_row(heads), _row(rules), *(_line(line) for line in table.lines)]
    return "\n".join([*lines, "", f"{escaped(table.caption)}.", ""])


def _line(line: Line) -> str:
    cells = (f"{value} {ends}".rstrip() or NONE for value, ends in line.cells)
    return _row([*(_text(*text) for text in line.texts), *cells])


def _text(text: str, marks: Sequence[str]) -> str:
    return (escaped(text) or NONE) + (f" *({', '.join(map(escaped, marks))})*" if marks else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
