"""What jobs have in common: their shape, how bad files become reports, and how numbers leave."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from evaluator.custom_scorer.scores_file import ScorerError
from evaluator.errors import FileError, GoldError, InputsError, PredictionError, UsageError
from evaluator.jsonl.decompress import ReadLimits

Files = Mapping[str, BinaryIO]
Arguments = Mapping[str, Any]
Report = dict[str, Any]
Job = Callable[[Files, Arguments], tuple[Report, bytes]]

RESAMPLES = 1000
SEED = 0
_SAME_DIGITS = 12
_CUT = {"value", "low", "high", "a", "b", "difference"}


def draws(arguments: Arguments) -> dict[str, Any]:
    """How often, and from which seed, is drawn."""
    return {"resamples": arguments.get("resamples", RESAMPLES), "seed": arguments.get("seed", SEED)}


def limits(arguments: Arguments) -> ReadLimits:
    """What a phase allows of a file, where it says so."""
    return ReadLimits(**arguments.get("limits", {}))


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


def reporting(job: Job) -> Job:
    """The job with bad files and wrong usage turned into reports that say whose fault it is."""

    def run(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
        try:
            with _without_garbage_collection():
                return job(files, arguments)
        except PredictionError as error:
            return _refusal("predictions", error), b""
        except InputsError as error:
            return _refusal("inputs", error), b""
        except GoldError as error:
            return _refusal("gold", error), b""
        except ScorerError as error:
            return _refusal("scorer", error), b""
        except UsageError as error:
            text = str(error)
            problem = {"file": "", "line": None, "what": text, "found": "", "expected": "", "text": text}
            return {"ok": False, "fault": "usage", "problems": [problem], "more": 0}, b""

    return run


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


def _refusal(fault: str, error: FileError) -> Report:
    return {
        "ok": False,
        "fault": fault,
        "problems": [problem.as_dict() for problem in error.problems],
        "more": error.more,
    }
