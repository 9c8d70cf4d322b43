"""Messages on standard error, with control characters escaped."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import printable

_CLEAR = "\r\x1b[K"


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def say(text: str) -> None:
    print(printable_lines(text), file=sys.stderr)


def print_problems(problems: Sequence[Mapping[str, Any]], more: int = 0) -> None:
    """Print one line per problem. more: the number of further problems, printed last if it is not 0."""
    for problem in problems:
        say(str(problem.get("text", "")))
    if more:
        say(f"and {more} more problem{'s' if more > 1 else ''}")


class Progress:
    """A progress line that is overwritten on a terminal; prints nothing elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def show(self, text: str) -> None:
        self._write(_CLEAR + printable(text))

    def end(self) -> None:
        """Clear the line, before anything else is printed."""
        self._write(_CLEAR)

    def _write(self, text: str) -> None:
        if self._live:
            sys.stderr.write(text)
            sys.stderr.flush()
