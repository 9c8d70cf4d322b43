"""Jobs that compare systems, from prediction files or from stored outcomes."""

from collections.abc import Sequence
from typing import Any

import msgspec

from evaluator.custom_scorer.measures import MeasureDeclaration, check_declaration, measures_of
from evaluator.errors import PredictionError, UsageError
from evaluator.jobs.base import RESAMPLES, SEED, Files, Report, Request, TaskRequest, reproducible
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.base import Measure
from evaluator.outcomes.serialization import from_bytes
from evaluator.outcomes.table import Outcomes
from evaluator.plots.summary import PlotData, plot_data
from evaluator.scoring.compare import Comparison, compare_outcomes
from evaluator.scoring.compare_pairs import PairComparison, compare_pairs
from evaluator.scoring.disagreements import AgreementCounts, DiscordantUnits, counts, items
from evaluator.scoring.score import Score, existing
from evaluator.tasks.base import Task
from evaluator.tasks.registry import find_task


class CompareRequest(TaskRequest, frozen=True, kw_only=True):
    job = "compare"
    gold_name: str
    predictions_a_name: str
    predictions_b_name: str
    resamples: int = RESAMPLES
    seed: int = SEED
    limits: ReadLimits = ReadLimits()


class CompareResult(msgspec.Struct, forbid_unknown_fields=True):
    """Comparisons of two systems, each by one measure on one slice, as `compare --json` prints them."""

    task: str
    task_version: int
    n_units: int
    n_groups: int
    comparisons: list[Comparison]
    warnings: list[str]


class CompareReport(Report):
    result: CompareResult
    primary: str
    gold_warnings: list[str] = []


def compare(files: Files, request: CompareRequest) -> tuple[CompareReport, bytes]:
    """Compare two systems' predictions by every measure.

    files: `gold`, `predictions_a`, `predictions_b`. The attachment is empty. Raises PredictionError with the problems
    of both prediction files.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    known = task.validation_data(gold)
    tables, warnings = [], []
    errors: list[PredictionError] = []
    for which, name in (("predictions_a", request.predictions_a_name), ("predictions_b", request.predictions_b_name)):
        try:
            answers = task.read_predictions(files[which], name, known, options, request.limits)
        except PredictionError as error:
            errors.append(error)  # the problems of both files are reported together
            continue
        tables.append(task.score(gold, answers, options))
        warnings += answers.warnings
    if errors:
        raise PredictionError(
            [problem for failure in errors for problem in failure.problems], sum(failure.more for failure in errors)
        )
    rows = compare_outcomes(
        tables[0], tables[1], task.measures, cross=options["cross"], resamples=request.resamples, seed=request.seed
    )
    for name, values in (
        (request.predictions_a_name, [row.a for row in rows]),
        (request.predictions_b_name, [row.b for row in rows]),
    ):
        pairs = zip(rows, values, strict=True)
        scores = [Score(row.measure, row.slice, value, None, None, row.n) for row, value in pairs]
        warnings += [f"{name}: {remark}" for remark in task.score_warnings(scores)]
    report = _compared(task, tables[0], rows)
    report.result.warnings, report.gold_warnings = warnings, gold.warnings
    return report, b""


class CompareOutcomesRequest(Request, frozen=True, kw_only=True):
    """Arguments of `compare_stored`. options: name -> value as text, of options of the task that the outcomes belong
    to.
    """

    job = "compare_outcomes"
    options: dict[str, str] = {}
    resamples: int = RESAMPLES
    seed: int = SEED


def compare_stored(files: Files, request: CompareOutcomesRequest) -> tuple[CompareReport, bytes]:
    """Compare two systems from stored outcomes, without reading or scoring predictions again.

    files: `a` and `b`, from `evaluator.outcomes.serialization.to_bytes`. The attachment is empty.
    """
    a, b = (from_bytes(files[name].read()) for name in ("a", "b"))
    task = find_task(a.task)
    if a.task_version != task.version:
        raise UsageError(f"file a has outcomes of {a.task} version {a.task_version}, expected version {task.version}")
    cross = task.parse_options(request.options)["cross"]
    rows = compare_outcomes(a, b, task.measures, cross=cross, resamples=request.resamples, seed=request.seed)
    return _compared(task, a, rows), b""


class ScorerDeclaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A custom scorer: the number of its version, and its measures. primary: the name of the measure that ranks."""

    number: int
    measures: list[MeasureDeclaration]
    primary: str


class CompareBoardRequest(Request, frozen=True, kw_only=True):
    """Arguments of `compare_board`.

    pairs: pairs of systems, by the numbers of their files (0 is the file "0"); measure: the name of a measure of the
    task, or of the custom scorer; scorer: the custom scorer that made the outcomes, None if the task did.
    """

    job = "compare_board"
    pairs: list[tuple[int, int]]
    measure: str
    scorer: ScorerDeclaration | None = None
    resamples: int = RESAMPLES
    seed: int = SEED


class CompareBoardReport(Report):
    n_groups: int
    comparisons: list[PairComparison]


def compare_board(files: Files, request: CompareBoardRequest) -> tuple[CompareBoardReport, bytes]:
    """Compare pairs of systems by one measure, from stored outcomes.

    files: the stored outcomes of the systems as "0", "1"... The attachment is empty. Raises UsageError for an unknown
    measure, or for outcomes of another version of the task or scorer.
    """
    tables = [from_bytes(files[str(index)].read()) for index in range(len(files))]
    measures = {measure.name: measure for measure in _measures_of(tables, request.scorer)}
    if request.measure not in measures:
        raise UsageError(
            f'"{request.measure}" is not a measure of these outcomes, expected one of: {", ".join(measures)}'
        )
    rows = compare_pairs(
        tables, request.pairs, measures[request.measure], resamples=request.resamples, seed=request.seed
    )
    return CompareBoardReport(tables[0].n_groups, [reproducible(row) for row in rows]), b""


class HeadToHeadRequest(Request, frozen=True, kw_only=True):
    """Arguments of `head_to_head`.

    gold_name: the name of the file `gold`, empty if this file is not given; scorer: the custom scorer that made the
    outcomes, None if the task did.
    """

    job = "head_to_head"
    gold_name: str = ""
    scorer: ScorerDeclaration | None = None
    resamples: int = RESAMPLES
    seed: int = SEED


class HeadToHeadReport(Report, omit_defaults=True):
    n_groups: int
    comparisons: list[Comparison]
    counts: list[AgreementCounts]
    items: list[DiscordantUnits] | None = None


def head_to_head(files: Files, request: HeadToHeadRequest) -> tuple[HeadToHeadReport, bytes]:
    """Compare two systems by every measure on the whole and on one-way slices, from stored outcomes.

    The report also counts the units that both, one or neither of the systems has right. files: the outcomes `a` and
    `b`, and `gold` if it is public: `items` then lists the units that only one of the two systems has right. The
    attachment is empty.
    """
    a, b = (from_bytes(files[name].read()) for name in ("a", "b"))
    measures = _measures_of([a, b], request.scorer)
    rows = compare_outcomes(a, b, measures, resamples=request.resamples, seed=request.seed)
    report = HeadToHeadReport(a.n_groups, _rows(rows), list(counts(a, b, measures)))
    if "gold" in files:
        report.items = list(items(a, b, measures, files["gold"], request.gold_name))
    return report, b""


class PlotRequest(Request, frozen=True, kw_only=True):
    job = "plot_data"


class PlotReport(Report):
    plot_data: PlotData


def plot(files: Files, request: PlotRequest) -> tuple[PlotReport, bytes]:
    """Compute from stored outcomes the plot data that the job `score` reports.

    files: `table`, the stored outcomes. The attachment is empty.
    """
    table = from_bytes(files["table"].read())
    return PlotReport(plot_data(table, _measures_of([table], None))), b""


def _measures_of(tables: list[Outcomes], scorer: ScorerDeclaration | None) -> tuple[Measure, ...]:
    """Return the measures that exist for these outcomes.

    Raises UsageError if a table is of another version of the task, or of another version of the custom scorer. scorer:
    the custom scorer that made the outcomes; None: the task did.
    """
    if scorer is None:
        task = find_task(tables[0].task)
        for table in tables:
            _check_version(table, task)
        return existing(task.measures, tables[0].facts)
    for table in tables:
        if (version := table.facts.get("scorer")) != scorer.number:
            made_by = f"the task {table.task}" if version is None else f"version {version} of a custom scorer"
            raise UsageError(f"outcomes are of {made_by}, expected version {scorer.number} of the custom scorer")
    scorer_measures = measures_of(check_declaration(scorer.measures, scorer.primary))
    return tuple(measure for measure in scorer_measures if measure.name in tables[0].statistics)


def _check_version(table: Outcomes, task: Task[Any, Any, Any]) -> None:
    if "scorer" in table.facts:
        raise UsageError(f"outcomes are of a custom scorer, expected the scorer of the task {task.name}")
    if (table.task, table.task_version) != (task.name, task.version):
        raise UsageError(
            f"outcomes are of {table.task} version {table.task_version}, expected {task.name} version {task.version}"
        )


def _compared(task: Task[Any, Any, Any], outcomes: Outcomes, rows: Sequence[Comparison]) -> CompareReport:
    result = CompareResult(task.name, task.version, outcomes.n_units, outcomes.n_groups, _rows(rows), [])
    return CompareReport(result, task.primary(outcomes.facts))


def _rows(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [reproducible(row) for row in comparisons]
