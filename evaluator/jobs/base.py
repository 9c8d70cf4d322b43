"""What jobs have in common: typed requests and reports, how bad files become refusals, and how numbers leave."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, ClassVar, Generic, Literal, TypeVar

import msgspec

from evaluator.custom_scorer.scores_file import ScorerError
from evaluator.errors import MAX_PROBLEMS, FileError, GoldError, InputsError, PredictionError, UsageError
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.base import Task
from evaluator.tasks.registry import find_task

Files = Mapping[str, BinaryIO]
Slice = dict[str, SliceValue]
Count = Annotated[int, msgspec.Meta(ge=0)]

RESAMPLES = 1000
SEED = 0
_SAME_DIGITS = 12
_CUT = {"value", "low", "high", "a", "b", "difference"}


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one job. The site and the command line build it; the job gets it decoded and checked."""

    job: ClassVar[str]
    """The name of the job that takes it, in `evaluator.jobs.JOBS`."""


class TaskRequest(Request, frozen=True, kw_only=True):
    """The arguments of a job that reads files of a task. options: of the task, as texts."""

    task: str
    options: dict[str, str] = {}

    def parsed(self) -> tuple[Task[Any, Any, Any], dict[str, Any]]:
        """The task and the values of all its options. Raises UsageError."""
        task = find_task(self.task)
        return task, task.parse_options(self.options)


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """What a job says that went through; `"ok": true` comes with it."""


class ProblemRow(msgspec.Struct, forbid_unknown_fields=True):
    """`evaluator.errors.Problem`, with its text."""

    file: str
    line: int | None
    what: str
    found: str
    expected: str
    text: str


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """Why a job did not go through, and whose fault that is; `"ok": false` comes with it. more: problems left out."""

    fault: Literal["predictions", "inputs", "gold", "scorer", "usage"]
    problems: Annotated[list[ProblemRow], msgspec.Meta(max_length=2 * (MAX_PROBLEMS + 1))]
    more: Count = 0


_FAULTS: tuple[tuple[type[FileError], Literal["predictions", "inputs", "gold", "scorer"]], ...] = (
    (PredictionError, "predictions"),
    (InputsError, "inputs"),
    (GoldError, "gold"),
    (ScorerError, "scorer"),
)
_AnyRequest = TypeVar("_AnyRequest", bound=Request)


@dataclass(frozen=True)
class Job(Generic[_AnyRequest]):
    """A function on open files and its request, as the sandbox calls it: with plain values in and out."""

    request: type[_AnyRequest]
    work: Callable[[Files, _AnyRequest], tuple[Report, bytes]]

    def __call__(self, files: Files, arguments: Mapping[str, Any] | Request) -> tuple[dict[str, Any], bytes]:
        """(report, attachment). Bad files and wrong usage are refusals; whatever else is raised is our own fault."""
        try:
            with _without_garbage_collection():
                report, attachment = self.work(files, self._decoded(arguments))
                return {"ok": True} | msgspec.to_builtins(report, enc_hook=_float), attachment
        except FileError as error:
            fault = next(fault for kind, fault in _FAULTS if isinstance(error, kind))
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
    """Of NumPy's floats, which are Python's, too."""
    if isinstance(value, float):
        return float(value)
    raise TypeError(f"a {type(value).__name__} in a report")


def reproducible(score: dict[str, Any]) -> dict[str, Any]:
    """The score, or the comparison, with its numbers cut to 12 digits: another processor says the same, and equals tie.

    They hang on sums of fractions, which linear algebra adds up in an order that depends on the processor's kind, and
    which differ in their last digits with the order of the units: two systems with the same ranks on other questions
    have one reciprocal rank, and must share their place on a board.
    """
    for name in _CUT & score.keys():
        if isinstance(score[name], float):  # of a board's pairs, a and b are places
            # Differences of nearly equal numbers have fewer digits to give: what is below 1e-13 is nothing.
            score[name] = float(f"{round(score[name], _SAME_DIGITS + 1):.{_SAME_DIGITS}g}") + 0.0
    return score


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Millions of small objects are made and none in cycles: looking for cycles would cost a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
