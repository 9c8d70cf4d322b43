"""The interface of a reference system: its tasks, files and options, and how it predicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from evaluator.errors import UsageError, shown
from evaluator.reference_systems.files import FILES, INPUTS
from evaluator.tasks.base import Option, Options, parse_options

Line = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One run of a reference system.

    task: the task's name. files: kind of file (INPUTS or a kind in FILES) -> the paths of the files of this kind.
    options: name -> value of every option of the system. seed: the seed of all random choices.
    """

    task: str
    files: Mapping[str, Sequence[Path]]
    options: Options
    seed: int

    def paths(self, kind: str) -> Sequence[Path]:
        """Return the paths of the files of this kind; empty if there are none."""
        return self.files.get(kind, ())


@dataclass(frozen=True)
class System:
    """A reference system, which makes predictions for one or more tasks.

    doc: what it predicts, one line. source: the paper. needs: kinds of FILES that it requires. uses: further kinds that
    it can use.

    predict: yields lines of the task's prediction format, and reports its progress (`evaluator.progress.Steps`). Equal
    files, options and seeds give equal lines on one machine. It raises FileError for a file that is invalid, and
    UsageError for files that do not fit the options.
    """

    name: str
    tasks: tuple[str, ...]
    doc: str
    source: str
    predict: Callable[[Job], Iterator[Line]]
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()

    def job(self, task: str, files: Mapping[str, Sequence[Path]], options: Mapping[str, str], seed: int) -> Job:
        """Return a run of this system: the argument of `predict`.

        task: the task's name. files: kind of file -> paths. options: name -> text of the options that are set. seed:
        the seed of all random choices. Raises UsageError for an unknown option or an invalid value, and for missing or
        unused files.
        """
        for kind in self.needs:
            if not files.get(kind):
                raise UsageError(f"--{kind} is missing, expected --{kind} FILE: {self.name} needs {FILES[kind]}")
        for kind, paths in files.items():
            if paths and kind not in {INPUTS, *self.needs, *self.uses}:
                raise UsageError(f"{self.name} does not use --{kind}, found {shown(str(paths[0]))}")
        return Job(task, files, parse_options(self.options, options, self.name), seed)


def whole_number(most: int = 999_999_999) -> Callable[[str], int]:
    """Return the parser of an option whose values are whole numbers from 1 to `most`.

    The parser returns the number in a text, and raises ValueError for any other text.
    """

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) == int(text) <= most:
            raise ValueError(f"a whole number from 1 to {most}")
        return int(text)

    return parse


MOST_NUMBER = 1_000_000_000
"""The largest value of an option that is a number. Solvers do not end with a penalty near the limit of float64."""


def number(text: str) -> float:
    """Parse the value of an option as a number from 0 to MOST_NUMBER. Raises ValueError for any other text."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= MOST_NUMBER:
        raise ValueError(f"a number from 0 to {MOST_NUMBER}")
    return value


def opened(path: Path) -> BinaryIO:
    """Open a file to read bytes. Raises UsageError if it cannot be opened."""
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {shown(str(path))}: {error.strerror}") from None
