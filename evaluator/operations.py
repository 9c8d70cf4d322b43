"""The things the referee does with files, as the command line and the sandbox call them.

A job takes open files and plain arguments and returns a report (plain JSON values) and an attachment (bytes). Bad
files are reports, not exceptions; whatever else is raised is our own fault.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from evaluator import scorer_reading, warming
from evaluator.audit_job import audit_part
from evaluator.comparison import Comparison, compare_outcomes
from evaluator.curation.halves import halves
from evaluator.declared import declared, measures_of
from evaluator.definition import Task
from evaluator.divisions import read_division, write_division
from evaluator.drawings import drawing_of
from evaluator.errors import FileError, GoldError, InputsError, PredictionError, UsageError
from evaluator.likeness_jobs import make_signature, near_copies
from evaluator.many_pairs import compare_pairs
from evaluator.measures import Measure
from evaluator.outcomes import Outcomes
from evaluator.parts import part_of
from evaluator.scorer_output import ScorerError
from evaluator.scoring import Score, existing, score_outcomes
from evaluator.side_by_side import counts, items
from evaluator.storage import from_bytes, to_bytes
from evaluator.task import find_task
from evaluator.unpacking import ReadLimits

Files = Mapping[str, BinaryIO]
Arguments = Mapping[str, Any]
Report = dict[str, Any]
Job = Callable[[Files, Arguments], tuple[Report, bytes]]

RESAMPLES = 1000
SEED = 0
_SAME_DIGITS = 12
_CUT = {"value", "low", "high", "a", "b", "difference"}


def validate(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Are the predictions well formed? No gold is read. files: inputs, predictions."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    limits = _limits(arguments)
    known = task.read_inputs(
        files["inputs"], arguments["inputs_name"], options, arguments.get("expects", {}), ReadLimits()
    )
    answers = task.read_predictions(files["predictions"], arguments["predictions_name"], known, options, limits)
    return {"ok": True, "n_lines": answers.n_lines, "warnings": answers.warnings}, b""


def score(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Every score, with intervals; the attachment is the outcomes. files: gold, predictions, and where only a half of
    the gold's groups counts, division; the argument `half` is public or private then."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options)
    answers = task.read_predictions(
        files["predictions"], arguments["predictions_name"], task.known(gold), options, _limits(arguments)
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
    read = scorer_reading.read(files, arguments, **_draws(arguments))
    result = {
        "task": read.found.task,
        "task_version": read.found.task_version,
        "n_units": read.found.n_units,
        "n_groups": read.found.n_groups,
        "scores": [_reproducible(score.as_dict()) for score in read.scores],
        "warnings": [],
    }
    units = read.table.facts["units_sha256"] if read.table else ""
    report = {"ok": True, "result": result, "primary": arguments["primary"], "given": read.given, "units_sha256": units}
    return report | {"n_warnings": len(read.found.warnings)}, to_bytes(read.table) if read.table else b""


def prepare_gold(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Is the gold well formed, and what does it hold? The attachment is the public inputs. files: gold."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options, _limits(arguments))
    outcomes = task.score(gold, task.unanswered(gold), options)
    # Every score is taken once, so that a gold that cannot be scored is found before anybody submits.
    score_outcomes(outcomes, task.measures, cross=options["cross"], resamples=0)
    report = {
        "ok": True,
        "n_lines": gold.n_lines,
        "n_units": outcomes.n_units,
        "n_groups": outcomes.n_groups,
        "dimensions": {name: list(dimension.values) for name, dimension in outcomes.dimensions.items()},
        "measures": [measure.name for measure in existing(task.measures, outcomes.facts)],
        "primary": task.primary(outcomes.facts),
        "expects": task.facts(gold),
        "warnings": gold.warnings,
    }
    return report, task.public_inputs(gold)


def divide(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Public and private halves of a gold's groups; the attachment names the groups of each. files: gold, and where
    an earlier version was divided, its division as `kept`: groups that are still there keep their half."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options, _limits(arguments))
    outcomes = task.score(gold, task.unanswered(gold), options)
    kept = read_division(files["kept"].read()) if "kept" in files else None
    made = halves(outcomes.group_names, seed=arguments["seed"], share=arguments["share"], kept=kept)
    report = {"ok": True, "n_public": len(made.public), "n_private": len(made.private)}
    return report, write_division(made)


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
            answers = task.read_predictions(
                files[which], arguments[f"{which}_name"], known, options, _limits(arguments)
            )
        except PredictionError as error:
            faults.append(error)  # the other file's problems are told in the same breath
            continue
        tables.append(task.score(gold, answers, options))
        warnings += answers.warnings
    if faults:
        raise PredictionError([one for fault in faults for one in fault.problems], sum(fault.more for fault in faults))
    rows = compare_outcomes(tables[0], tables[1], task.measures, cross=options["cross"], **_draws(arguments))
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
    rows = compare_outcomes(a, b, task.measures, cross=cross, **_draws(arguments))
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
    rows = compare_pairs(tables, pairs, measures[arguments["measure"]], **_draws(arguments))
    return {
        "ok": True,
        "n_groups": tables[0].n_groups,
        "comparisons": [_reproducible(row.as_dict()) for row in rows],
    }, b""


def side_by_side(files: Files, arguments: Arguments) -> tuple[Report, bytes]:
    """Two systems by every measure on every one-way slice, from stored outcomes, with how many units each has right.

    files: a, b, and gold where everybody may read it: then `items` names units that only one of the two has right.
    The argument `scorer` is as for `compare_board`.
    """
    a, b = (from_bytes(files[name].read()) for name in ("a", "b"))
    measures = _measures_of([a, b], arguments.get("scorer"))
    rows = compare_outcomes(a, b, measures, **_draws(arguments))
    report = {
        "ok": True,
        "n_groups": a.n_groups,
        "comparisons": [_reproducible(row.as_dict()) for row in rows],
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
        "comparisons": [_reproducible(row.as_dict()) for row in rows],
        "warnings": warnings,
    }
    return {"ok": True, "result": result, "primary": task.primary(outcomes.facts)}


def _draws(arguments: Arguments) -> dict[str, Any]:
    return {"resamples": arguments.get("resamples", RESAMPLES), "seed": arguments.get("seed", SEED)}


def result_of(
    task: Task[Any, Any, Any], outcomes: Outcomes, scores: list[Score], warnings: list[str]
) -> dict[str, Any]:
    """The object that `score --json` prints."""
    return {
        "task": task.name,
        "task_version": task.version,
        "n_units": outcomes.n_units,
        "n_groups": outcomes.n_groups,
        "scores": [_reproducible(score.as_dict()) for score in scores],
        "warnings": warnings,
    }


def _reproducible(score: dict[str, Any]) -> dict[str, Any]:
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


def _limits(arguments: Arguments) -> ReadLimits:
    return ReadLimits(**arguments.get("limits", {}))


def _reporting(job: Job) -> Job:
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


JOBS: dict[str, Job] = {
    "validate": _reporting(validate),
    "score": _reporting(score),
    "scorer_output": _reporting(scorer_output),
    "prepare_gold": _reporting(prepare_gold),
    "divide": _reporting(divide),
    "compare": _reporting(compare),
    "compare_outcomes": _reporting(compare_stored),
    "compare_board": _reporting(compare_board),
    "side_by_side": _reporting(side_by_side),
    "draw": _reporting(draw),
    "signature": _reporting(make_signature),
    "near_copies": _reporting(near_copies),
    "audit_part": _reporting(audit_part),
}


def warm_up() -> None:
    """Runs every job once, right and wrong, so that nothing is imported or built for the first time later."""
    warming.run(JOBS)
