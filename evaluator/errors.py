"""Whose fault it is. Every failure of the referee is one of these, and each ends a run differently."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

MAX_PROBLEMS = 100
"""Problems that are reported in full; the rest are counted."""

MAX_COUNTED = 200_000
"""Problems beyond those that are counted before reading stops: nobody waits for more."""

_MAX_SHOWN = 80


def shown(value: object) -> str:
    """A value as JSON writes it, cut to one short line, with nothing in it that moves a terminal's cursor."""
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
    """The text with control, bidirectional and other invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else json.dumps(ch)[1:-1] for ch in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a file: where, what, what was found, what was expected."""

    file: str
    line: int | None
    what: str
    found: str = ""
    expected: str = ""

    def __str__(self) -> str:
        where = printable(self.file) if self.line is None else f"{printable(self.file)}:{self.line}"
        found = f", found {self.found}" if self.found else ""
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{where}: {self.what}{found}{expected}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "text": str(self)}


class EvaluatorError(Exception):
    """The base of what the referee raises on purpose."""


class FileError(EvaluatorError):
    """A file that cannot be used: up to MAX_PROBLEMS problems, and how many more there are."""

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
    """The predictions are bad: their author's to mend."""


class GoldError(FileError):
    """The gold is bad: the curator's to mend. Its text quotes ids (they are public), never answers."""


class InputsError(GoldError):
    """The public inputs are bad: the curator's too."""


class UsageError(EvaluatorError):
    """An unknown task, option or value: the caller's to mend."""


class SandboxError(EvaluatorError):
    """Our own fault, never the participant's: the work may be retried."""


class ProblemList:
    """Collects the problems of one file, the first MAX_PROBLEMS of them whole."""

    def __init__(self, file: str, error: type[FileError]) -> None:
        self.file = file
        self.error = error
        self.problems: list[Problem] = []
        self.more = 0

    def __bool__(self) -> bool:
        return bool(self.problems)

    @property
    def full(self) -> bool:
        return len(self.problems) >= MAX_PROBLEMS

    def add(self, line: int | None, what: str, found: str = "", expected: str = "") -> None:
        if not self.full:
            self.problems.append(Problem(self.file, line, what, found, expected))
            return
        self.more += 1
        if self.more >= MAX_COUNTED:
            self.problems.append(Problem(self.file, line, f"reading stopped here after {MAX_COUNTED} more problems"))
            raise self.error(self.problems, self.more)

    def stop(self, line: int | None, what: str, found: str = "", expected: str = "") -> NoReturn:
        """Report a problem after which reading on makes no sense."""
        self.add(line, what, found, expected)
        raise self.error(self.problems, self.more)

    def raise_if_any(self) -> None:
        if self.problems:
            raise self.error(self.problems, self.more)
