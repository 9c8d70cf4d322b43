"""Predictions: are they well formed, and what are they worth?"""

from typing import Any

from evaluator.custom_scorer import report as scorer_reading
from evaluator.jobs.base import RESAMPLES, SEED, Arguments, Files, Report, draws, limits, reproducible
from evaluator.jobs.halves_file import read_division
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.subset import part_of
from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import Outcomes
from evaluator.plots.summary import drawing_of
from evaluator.scoring.score import Score, score_outcomes
from evaluator.tasks.base import Task
from evaluator.tasks.registry import find_task


def validate(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Are the predictions well formed? No gold is read. files: inputs, predictions."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    known = task.read_inputs(
        files["inputs"], arguments["inputs_name"], options, arguments.get("expects", {}), ReadLimits()
    )
    answers = task.read_predictions(
        files["predictions"], arguments["predictions_name"], known, options, limits(arguments)
    )
    return {"ok": True, "n_lines": answers.n_lines, "warnings": answers.warnings}, b""


def score(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Every score, with intervals; the attachment is the outcomes. files: gold, predictions, and where only a half of
    the gold's groups counts, division; the argument `half` is public or private then."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options)
    answers = task.read_predictions(
        files["predictions"], arguments["predictions_name"], task.known(gold), options, limits(arguments)
    )
    outcomes = task.score(gold, answers, options)
    if arguments.get("half"):
        division = read_division(files["division"].read())
        units = task.measure(task.primary(outcomes.facts)).units
        outcomes = part_of(outcomes, getattr(division, arguments["half"]), units=units)
    scores = score_outcomes(
        outcomes,
        task.measures,
        cross=options["cross"],
        resamples=arguments.get("resamples", RESAMPLES),
        seed=arguments.get("seed", SEED),
    )
    result = result_of(task, outcomes, scores, [*answers.warnings, *task.remarks(scores)])
    report = {
        "ok": True,
        "result": result,
        "groups": [score.n_groups for score in scores],
        "primary": task.primary(outcomes.facts),
        "gold_warnings": gold.warnings,
        "drawing": drawing_of(outcomes, task.measures),
    }
    return report, to_bytes(outcomes)


def scorer_output(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """What an organiser's own scorer wrote, checked, with intervals; the attachment is its outcomes, empty without.

    files: scores, and outcomes where there are any. The report's `given` names the measures that outcomes give.
    """
    read = scorer_reading.read(files, arguments, **draws(arguments))
    result = {
        "task": read.found.task,
        "task_version": read.found.task_version,
        "n_units": read.found.n_units,
        "n_groups": read.found.n_groups,
        "scores": [reproducible(score.as_dict()) for score in read.scores],
        "warnings": [],
    }
    units = read.table.facts["units_sha256"] if read.table else ""
    report = {"ok": True, "result": result, "primary": arguments["primary"], "given": read.given, "units_sha256": units}
    return report | {"n_warnings": len(read.found.warnings)}, to_bytes(read.table) if read.table else b""


def result_of(
    task: Task[Any, Any, Any], outcomes: Outcomes, scores: list[Score], warnings: list[str]
) -> dict[str, Any]:
    """The object that `score --json` prints."""
    return {
        "task": task.name,
        "task_version": task.version,
        "n_units": outcomes.n_units,
        "n_groups": outcomes.n_groups,
        "scores": [reproducible(score.as_dict()) for score in scores],
        "warnings": warnings,
    }
