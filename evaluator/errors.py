"""Errors of the evaluator: one class for each party that has to act: participant, curator, caller or operator."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

MAX_PROBLEMS = 100
"""Number of problems reported in full; the rest are counted."""

MAX_COUNTED = 200_000
"""Number of further problems that are counted before reading stops."""

MAX_LISTED_LINES = 10
"""Number of lines that are listed of a group of problems."""

TABLE_NAME = re.compile(r"\.(csv|tsv|xlsx|parquet)(?:(?<=sv)\.gz)?\Z", re.IGNORECASE)
"""Ends of the names of tables, which have rows; other files have lines. CSV and TSV may be compressed."""

_MAX_SHOWN = 80


def shown(value: object) -> str:
    """Return a value as JSON, truncated to one short line, with control characters escaped."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        value = value[: _MAX_SHOWN + 1]
    text = json.dumps(value, ensure_ascii=False)
    text = printable(text)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


def printable(text: str) -> str:
    """Return the text with control, bidirectional and other invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else json.dumps(ch)[1:-1] for ch in text)


def row_or_line(file: str) -> str:
    """Return `row` for the name of a table, otherwise `line`."""
    return "row" if TABLE_NAME.search(file) else "line"


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a file: its location, a description, the value found and the value expected.

    count: the number of problems in the file with the same description, this one included.
    """

    file: str
    line: int | None
    what: str
    found: str = ""
    expected: str = ""
    count: int = field(default=1, compare=False)

    def __str__(self) -> str:
        where = printable(self.file) if self.line is None else f"{printable(self.file)}:{self.line}"
        found = f", found {self.found}" if self.found else ""
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{where}: {self.what}{found}{expected}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "text": str(self)}


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems of one file that have the same description.

    what: the description. rows: those problems that are listed in full, as `Problem.as_dict` serializes them. count:
    the number of all problems with this description, including those that are not listed.
    """

    what: str
    count: int
    rows: list[Mapping[str, Any]]

    @property
    def found(self) -> str:
        """The value found, if it is the same in all problems of `rows`; otherwise an empty text."""
        return self.rows[0]["found"] if len({row["found"] for row in self.rows}) == 1 else ""

    @property
    def unit(self) -> str:
        """`row` if the file is a table, otherwise `line`."""
        return row_or_line(self.rows[0]["file"])

    @property
    def lines(self) -> str:
        """The numbers of the first problems' lines, as `lines 1, 2, 3, ...`, or of a table's rows; empty for problems
        of the whole file.
        """
        numbers = [str(row["line"]) for row in self.rows if row["line"] is not None]
        if not numbers:
            return ""
        rest = ", ..." if self.count > min(len(numbers), MAX_LISTED_LINES) else ""
        return f"{self.unit}{'s' if self.count > 1 else ''} {', '.join(numbers[:MAX_LISTED_LINES])}{rest}"


def group_problems(problems: Iterable[Mapping[str, Any]]) -> list[ProblemGroup]:
    """Group problems by file and description, in the order in which the descriptions first occur.

    problems: as `Problem.as_dict` serializes them.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for problem in problems:
        groups.setdefault((problem["file"], problem["what"]), []).append(problem)
    return [
        ProblemGroup(what, max(len(rows), *(row["count"] for row in rows)), rows) for (_, what), rows in groups.items()
    ]


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it wraps: as an argument (urllib3), as cause or as context; nothing for None.

    An exception that was raised again from one that it had caused leads back to itself: each is yielded once.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        wrapped = [argument for argument in (*error.args, getattr(error, "reason", None)) if argument is not error]
        inner = next((argument for argument in wrapped if isinstance(argument, BaseException)), None)
        error = inner or error.__cause__ or error.__context__


class EvaluatorError(Exception):
    """Base class of the errors that the evaluator raises deliberately."""


class FileError(EvaluatorError):
    """Base class of errors for an invalid file.

    problems: the first MAX_PROBLEMS problems of the file. more: the number of further problems.
    """

    def __init__(self, problems: Iterable[Problem], more: int = 0) -> None:
        self.problems = list(problems)
        self.more = more
        super().__init__(str(self))

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.more:
            lines.append(f"and {self.more} more problem{'s' if self.more > 1 else ''}")
        return "\n".join(lines)


class PredictionError(FileError):
    """The predictions are invalid; their author has to fix them."""


class GoldError(FileError):
    """The gold is invalid; the curator has to fix it. The text quotes ids (which are public), never answers."""


class InputsError(GoldError):
    """The public inputs are invalid; the curator has to fix them."""


class UsageError(EvaluatorError):
    """An unknown task, option or value; the caller has to fix it."""


class SandboxError(EvaluatorError):
    """A failure of the platform, never of the participant; the work may be retried."""


class SandboxTimeoutError(SandboxError):
    """The sandbox did not respond in time, or the job got too little processor time: the machine is too busy."""


class ProblemList:
    """Collects the problems of one file: the first MAX_PROBLEMS in full, a count of the rest.

    reported: the numbers of the rows of a table that have problems as rows; readers of lines leave them out. notes:
    sentences about a table that is valid, which become warnings.
    """

    def __init__(self, file: str, error: type[FileError]) -> None:
        self.file = file
        self.error = error
        self.problems: list[Problem] = []
        self.more = 0
        self.reported: set[int] = set()
        self.notes: list[str] = []
        self._counts: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self.problems)

    @property
    def full(self) -> bool:
        return len(self.problems) >= MAX_PROBLEMS

    def add(self, line: int | None, what: str, found: str = "", expected: str = "") -> None:
        if not self.full:
            self._counts[what] += 1
            self.problems.append(Problem(self.file, line, what, found, expected))
            return
        if what in self._counts:  # so that a file cannot make the counter large
            self._counts[what] += 1
        self.more += 1
        if self.more >= MAX_COUNTED:
            self.problems.append(Problem(self.file, line, f"reading stopped here after {MAX_COUNTED} more problems"))
            raise self._failure()

    def stop(self, line: int | None, what: str, found: str = "", expected: str = "") -> NoReturn:
        """Add a problem that makes further reading pointless, and raise the exception `error` with all problems.

        line: the number of the line with the problem; None if it concerns the whole file. what, found, expected: the
        description, the value found and the value expected, as in `Problem`.
        """
        self.add(line, what, found, expected)
        raise self._failure()

    def raise_if_any(self) -> None:
        if self.problems:
            raise self._failure()

    def _failure(self) -> FileError:
        counted = [replace(problem, count=self._counts[problem.what] or 1) for problem in self.problems]
        if self.reported:  # rows are read in blocks, before the lines that are made of them
            counted.sort(key=lambda problem: (problem.line is None, problem.line))
        return self.error(counted, self.more)
