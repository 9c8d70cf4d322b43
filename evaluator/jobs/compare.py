"""Systems beside each other, from their files or from outcomes that were stored."""

from collections.abc import Mapping
from typing import Any

from evaluator.custom_scorer.measures import declared, measures_of
from evaluator.errors import PredictionError, UsageError
from evaluator.jobs.base import Arguments, Files, Report, draws, limits, reproducible
from evaluator.measures.base import Measure
from evaluator.outcomes.serialization import from_bytes
from evaluator.outcomes.table import Outcomes
from evaluator.plots.summary import drawing_of
from evaluator.scoring.compare import Comparison, compare_outcomes
from evaluator.scoring.compare_pairs import compare_pairs
from evaluator.scoring.disagreements import counts, items
from evaluator.scoring.score import Score, existing
from evaluator.tasks.base import Task
from evaluator.tasks.registry import find_task


def compare(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Two systems' predictions, measure by measure. files: gold, predictions_a, predictions_b."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options)
    known = task.known(gold)
    tables, warnings = [], []
    faults: list[PredictionError] = []
    for which in ("predictions_a", "predictions_b"):
        try:
            answers = task.read_predictions(files[which], arguments[f"{which}_name"], known, options, limits(arguments))
        except PredictionError as error:
            faults.append(error)  # the other file's problems are told in the same breath
            continue
        tables.append(task.score(gold, answers, options))
        warnings += answers.warnings
    if faults:
        raise PredictionError([one for fault in faults for one in fault.problems], sum(fault.more for fault in faults))
    rows = compare_outcomes(tables[0], tables[1], task.measures, cross=options["cross"], **draws(arguments))
    for which, values in (("predictions_a", [row.a for row in rows]), ("predictions_b", [row.b for row in rows])):
        pairs = zip(rows, values, strict=True)
        scores = [Score(row.measure, row.slice, value, None, None, row.n) for row, value in pairs]
        warnings += [f"{arguments[f'{which}_name']}: {remark}" for remark in task.remarks(scores)]
    return _compared(task, tables[0], rows, warnings) | {"gold_warnings": gold.warnings}, b""


def compare_stored(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """The same from outcomes that were stored: nothing is read or scored again. files: a, b."""
    a, b = (from_bytes(files[name].read()) for name in ("a", "b"))
    task = find_task(a.task)
    if a.task_version != task.version:
        raise UsageError(f"a is of {a.task} version {a.task_version}, expected version {task.version}")
    cross = task.parse_options(arguments.get("options", {}))["cross"]
    rows = compare_outcomes(a, b, task.measures, cross=cross, **draws(arguments))
    return _compared(task, a, rows, []), b""


def compare_board(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """One measure of many systems, pair by pair, from stored outcomes. files: "0", "1"... in the order that the
    argument `pairs` counts them; the argument `measure` names the task's, or one that `scorer` declares: {"number",
    "measures", "primary"} of the organisers' own."""
    tables = [from_bytes(files[str(place)].read()) for place in range(len(files))]
    measures = {measure.name: measure for measure in _measures_of(tables, arguments.get("scorer"))}
    if arguments["measure"] not in measures:
        raise UsageError(f'"{arguments["measure"]}" is no measure of these outcomes, expected one of {[*measures]}')
    pairs = [(int(a), int(b)) for a, b in arguments["pairs"]]
    rows = compare_pairs(tables, pairs, measures[arguments["measure"]], **draws(arguments))
    return {
        "ok": True,
        "n_groups": tables[0].n_groups,
        "comparisons": [reproducible(row.as_dict()) for row in rows],
    }, b""


def side_by_side(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Two systems by every measure on every one-way slice, from stored outcomes, with how many units each has right.

    files: a, b, and gold where everybody may read it: then `items` names units that only one of the two has right.
    The argument `scorer` is as for `compare_board`.
    """
    a, b = (from_bytes(files[name].read()) for name in ("a", "b"))
    measures = _measures_of([a, b], arguments.get("scorer"))
    rows = compare_outcomes(a, b, measures, **draws(arguments))
    report = {
        "ok": True,
        "n_groups": a.n_groups,
        "comparisons": [reproducible(row.as_dict()) for row in rows],
        "counts": [count.as_dict() for count in counts(a, b, measures)],
    }
    if "gold" in files:
        report["items"] = [one.as_dict() for one in items(a, b, measures, files["gold"], arguments["gold_name"])]
    return report, b""


def draw(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """What `score` says to draw, from outcomes that were stored. files: table."""
    table = from_bytes(files["table"].read())
    return {"ok": True, "drawing": drawing_of(table, _measures_of([table], None))}, b""


def _measures_of(tables: list[Outcomes], scorer: Mapping[str, Any] | None) -> tuple[Measure, ...]:
    """Those that exist for the tables. Raises UsageError where one is not of the task's version, or the scorer's."""
    if scorer is None:
        task = find_task(tables[0].task)
        for table in tables:
            _check_version(table, task)
        return existing(task.measures, tables[0].facts)
    if any(table.facts.get("scorer") != scorer["number"] for table in tables):
        raise UsageError(f"outcomes are of another scorer, expected those of scorer {scorer['number']}")
    made = measures_of(declared(scorer["measures"], scorer["primary"]))
    return tuple(measure for measure in made if measure.name in tables[0].statistics)


def _check_version(table: Outcomes, task: Task[Any, Any, Any]) -> None:
    if (table.task, table.task_version) != (task.name, task.version) or "scorer" in table.facts:
        raise UsageError(
            f"outcomes are of {table.task} version {table.task_version}, expected {task.name} version {task.version}"
        )


def _compared(task: Task[Any, Any, Any], outcomes: Outcomes, rows: list[Comparison], warnings: list[str]) -> Report:
    result = {
        "task": task.name,
        "task_version": task.version,
        "n_units": outcomes.n_units,
        "n_groups": outcomes.n_groups,
        "comparisons": [reproducible(row.as_dict()) for row in rows],
        "warnings": warnings,
    }
    return {"ok": True, "result": result, "primary": task.primary(outcomes.facts)}
