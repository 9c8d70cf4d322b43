"""Messages on standard error, with control characters escaped."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import group_problems, printable

_MAX_SINGLE = 3
_CLEAR = "\r\x1b[K"


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def say(text: str) -> None:
    print(printable_lines(text), file=sys.stderr)


def print_problems(problems: Sequence[Mapping[str, Any]], more: int = 0) -> None:
    """Print one line per problem; if more than three have the same description, only the first and the line numbers.

    problems: as `Problem.as_dict` serializes them. more: the number of problems that are not in `problems`. Those that
    the `count` of a listed problem includes are subtracted; the rest is printed last, as "and 3 more problems".
    """
    groups = group_problems(problems)
    for group in groups:
        if group.count <= _MAX_SINGLE:
            for problem in group.rows:
                say(str(problem.get("text", "")))
            continue
        first = group.rows[0]
        say(str(first.get("text", "")))
        numbers = group.lines.removeprefix(f"{group.unit}s ")
        say(f"{first['file']}: {group.what} on {group.count} {group.unit}s in all: {numbers}")
    more -= sum(group.count - len(group.rows) for group in groups)
    if more > 0:
        say(f"and {more} more problem{'s' if more > 1 else ''}")


class Progress:
    """A progress line that is overwritten on a terminal; prints nothing elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def show(self, text: str) -> None:
        self._write(_CLEAR + printable(text))

    def end(self) -> None:
        """Clear the progress line, before anything else is printed."""
        self._write(_CLEAR)

    def _write(self, text: str) -> None:
        if self._live:
            sys.stderr.write(text)
            sys.stderr.flush()
