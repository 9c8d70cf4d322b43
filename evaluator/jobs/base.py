"""Common parts of jobs: typed requests and reports, refusals for invalid files, and rounding of numbers."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, ClassVar, Generic, Literal, TypeVar

import msgspec

from evaluator.custom_scorer.scores_file import ScorerError
from evaluator.errors import MAX_PROBLEMS, FileError, GoldError, InputsError, PredictionError, UsageError
from evaluator.outcomes.table import SliceValue
from evaluator.statistics.confidence import RESAMPLES as RESAMPLES  # noqa: PLC0414 - jobs import it from here
from evaluator.tasks.base import Task
from evaluator.tasks.registry import find_task

Files = Mapping[str, BinaryIO]
Slice = dict[str, SliceValue]
Count = Annotated[int, msgspec.Meta(ge=0)]

SEED = 0
_SAME_DIGITS = 12
_ROUNDED = ("value", "low", "high", "a", "b", "difference")


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of one job. The site or the command line makes the request; the job gets it decoded and checked."""

    job: ClassVar[str]
    """Name of the job, in `evaluator.jobs.JOBS`, whose arguments the request has."""


class TaskRequest(Request, frozen=True, kw_only=True):
    """Arguments of a job that reads files of a task. task: the task's name; options: name of an option -> its value as
    text.
    """

    task: str
    options: dict[str, str] = {}

    def parsed(self) -> tuple[Task[Any, Any, Any], dict[str, Any]]:
        """Return (the task, name -> value of each of its options). Raises UsageError if the task or an option is
        invalid.
        """
        task = find_task(self.task)
        return task, task.parse_options(self.options)


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """Result of a job that succeeded; serialized with `"ok": true`."""


class ProblemRow(msgspec.Struct, forbid_unknown_fields=True):
    """One problem of a file, with its text: serialized `evaluator.errors.Problem`.

    line: the line number, None for the whole file. count: the number of problems with the same `what`.
    """

    file: str
    line: int | None
    what: str
    found: str
    expected: str
    text: str
    count: int = 1


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """Result of a job that failed because of its input; serialized with `"ok": false`.

    fault: the input that has to be fixed; `usage` are the arguments; more: the number of further problems that are not
    listed.
    """

    fault: Literal["predictions", "inputs", "gold", "scorer", "usage"]
    problems: Annotated[list[ProblemRow], msgspec.Meta(max_length=2 * (MAX_PROBLEMS + 1))]
    more: Count = 0


_ROLES: tuple[tuple[type[FileError], Literal["predictions", "inputs", "gold", "scorer"]], ...] = (
    (PredictionError, "predictions"),
    (InputsError, "inputs"),
    (GoldError, "gold"),
    (ScorerError, "scorer"),
)
_AnyRequest = TypeVar("_AnyRequest", bound=Request)
_AnyRow = TypeVar("_AnyRow", bound=msgspec.Struct)


@dataclass(frozen=True)
class Job(Generic[_AnyRequest]):
    """A job: the type of its request, and the function that does the work on open files.

    Calling the job with plain JSON values or with a request returns plain values, as the sandbox needs them.
    """

    request: type[_AnyRequest]
    work: Callable[[Files, _AnyRequest], tuple[Report, bytes]]

    def __call__(self, files: Files, arguments: Mapping[str, Any] | Request) -> tuple[dict[str, Any], bytes]:
        """Run the job and return (report, attachment). For invalid files and arguments the report is a `Refusal`.

        files: the role of a file -> its open stream. Any exception is an internal error.
        """
        try:
            with _without_garbage_collection():
                report, attachment = self.work(files, self._decoded(arguments))
                return {"ok": True} | msgspec.to_builtins(report, enc_hook=_float), attachment
        except FileError as error:
            fault = next(fault for kind, fault in _ROLES if isinstance(error, kind))
            refusal = Refusal(fault, [ProblemRow(**problem.as_dict()) for problem in error.problems], error.more)
        except UsageError as error:
            refusal = Refusal("usage", [ProblemRow("", None, str(error), "", "", str(error))])
        return {"ok": False} | msgspec.to_builtins(refusal), b""

    def _decoded(self, arguments: Mapping[str, Any] | Request) -> _AnyRequest:
        try:
            return msgspec.convert(arguments, self.request)
        except msgspec.ValidationError as error:
            raise UsageError(f"the arguments do not fit the job {self.request.job}: {error}") from None


def _float(value: object) -> float:
    """Return a NumPy float as a Python float, for msgspec's encoder. Raises TypeError for a value of any other type."""
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"a report contains a {type(value).__name__}, expected a float")


def reproducible(row: _AnyRow) -> _AnyRow:
    """Return a score or a comparison with its numbers rounded to 13 decimals and 12 significant digits.

    Every processor then gives the same result, and equal scores tie. Without rounding, the last digits of a
    floating-point sum depend on the processor (linear algebra adds in different orders) and on the order of the units:
    two systems with the same ranks on different questions, whose mean reciprocal ranks are equal, would not tie.
    """
    rounded = {}
    for name in _ROUNDED:
        number = getattr(row, name, None)
        if isinstance(number, float):  # in the pairs of `compare_board`, a and b are integers
            # Differences of nearly equal numbers have fewer correct digits: numbers are first rounded to 13 decimals.
            rounded[name] = float(f"{round(number, _SAME_DIGITS + 1):.{_SAME_DIGITS}g}") + 0.0
    return msgspec.structs.replace(row, **rounded)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection inside the `with` block. It would take a third of a job's time and find no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
