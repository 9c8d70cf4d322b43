"""A board as a Markdown table for GitHub and Pandoc."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.api.text_table import Line, TextTable
from leaderboard.core.text.plain_text import one_line, turns_round

_SIGNS = set("\\`*_[]#!|~$@")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
NONE = "\N{EN DASH}"


def escaped(text: str) -> str:
    """Escape text for a table cell: one line without markup, which does not change the direction of adjacent text."""
    plain = one_line(text)
    markdown = "".join(_ENTITIES.get(char, f"\\{char}" if char in _SIGNS else char) for char in plain)
    # First-strong isolate: right-to-left text does not affect the rest of the line.
    return f"\u2068{markdown}\u2069" if turns_round(plain) else markdown


def written(table: TextTable) -> str:
    """Return the Markdown source of a table, followed by its caption."""
    heads = [*(column.text for column in table.columns), *map(escaped, table.headings)]
    rules = [*("---:" if c.is_number else ":---" for c in table.columns), *("---:" for _ in table.headings)]
    lines = [_row(heads), _row(rules), *(_line(line) for line in table.lines)]
    return "\n".join([*lines, "", f"{escaped(table.caption)}.", ""])


def _line(line: Line) -> str:
    cells = (f"{value} {ends}".rstrip() or NONE for value, ends in line.scores)
    return _row([*(_text(*text) for text in line.texts), *cells])


def _text(text: str, marks: Sequence[str]) -> str:
    return (escaped(text) or NONE) + (f" *({', '.join(map(escaped, marks))})*" if marks else "")


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
