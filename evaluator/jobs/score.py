"""Jobs that validate and score predictions."""

from collections.abc import Sequence
from typing import Any

import msgspec

from evaluator.custom_scorer import report as scorer_reading
from evaluator.custom_scorer.measures import MeasureDeclaration, check_declaration
from evaluator.custom_scorer.scores_file import Expected
from evaluator.jobs.base import RESAMPLES, SEED, Files, Report, Request, Slice, TaskRequest, reproducible
from evaluator.jobs.public_private_file import read_public_private
from evaluator.jobs.similarity import SketchReport, sketch_of
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.subset import subset_of_groups
from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import SliceValue
from evaluator.plots.summary import PlotData, plot_data
from evaluator.scoring.score import Score, score_outcomes


class ValidateRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `validate`.

    expects: requirements on predictions, from the gold's `PrepareGoldReport`; limits: the limits on the predictions
    file, such as its size.
    """

    job = "validate"
    inputs_name: str
    predictions_name: str
    expects: dict[str, Any] = {}
    limits: ReadLimits = ReadLimits()


class ValidateReport(Report):
    n_lines: int
    warnings: list[str]


def validate(files: Files, request: ValidateRequest) -> tuple[ValidateReport, bytes]:
    """Check the format of predictions against the inputs, without gold.

    files: `inputs`, `predictions`. The attachment is empty.
    """
    task, options = request.parsed()
    known = task.read_inputs(files["inputs"], request.inputs_name, options, request.expects, ReadLimits())
    answers = task.read_predictions(files["predictions"], request.predictions_name, known, options, request.limits)
    return ValidateReport(answers.n_lines, [*answers.warnings, *answers.hints]), b""


class ScoreRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `score`.

    subset: `public` or `private` to score only these groups of the gold, else empty. sketch: True to report the
    similarity sketch of the predictions too (`evaluator.similarity.predictions`), for which they are read a second
    time.
    """

    job = "score"
    gold_name: str
    predictions_name: str
    subset: str = ""
    sketch: bool = False
    resamples: int = RESAMPLES
    seed: int = SEED
    limits: ReadLimits = ReadLimits()


class ScoreRow(msgspec.Struct, forbid_unknown_fields=True):
    """Score of one measure on one slice: serialized `evaluator.scoring.score.Score`, without its number of groups."""

    measure: str
    slice: Slice
    value: float | None
    low: float | None
    high: float | None
    n: int


class ScoreResult(msgspec.Struct, forbid_unknown_fields=True):
    """Scores of one predictions file, each of one measure on one slice, as `score --json` prints them."""

    task: str
    task_version: int
    n_units: int
    n_groups: int
    scores: list[ScoreRow]
    warnings: list[str]


class ScoreReport(Report):
    """Result of `score`.

    primary: the name of the measure that ranks; groups: for each score, in the order of the scores, the number of gold
    groups with units in its slice, empty for a custom scorer; plot_data: None for a custom scorer; sketch: None if it
    was not requested. hints: what the author of the predictions may have overlooked, as after `validate`; they are not
    published.
    """

    result: ScoreResult
    primary: str
    groups: list[int] = []
    gold_warnings: list[str] = []
    plot_data: PlotData | None = None
    sketch: SketchReport | None = None
    hints: list[str] = []

    @property
    def scores(self) -> list[ScoreRow]:
        return self.result.scores

    @property
    def warnings(self) -> list[str]:
        return self.result.warnings


def score(files: Files, request: ScoreRequest) -> tuple[ScoreReport, bytes]:
    """Score predictions against gold, with confidence intervals; the attachment is the serialized outcomes.

    files: `gold`, `predictions`, and, if the request names a subset, `partition`, the public/private split.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    answers = task.read_predictions(
        files["predictions"], request.predictions_name, task.validation_data(gold), options, request.limits
    )
    outcomes = task.score(gold, answers, options)
    if request.subset:
        partition = read_public_private(files["partition"].read())
        units = task.measure(task.primary(outcomes.facts)).units
        outcomes = subset_of_groups(outcomes, getattr(partition, request.subset), units=units)
    scores = score_outcomes(
        outcomes, task.measures, cross=options["cross"], resamples=request.resamples, seed=request.seed
    )
    report = ScoreReport(
        ScoreResult(
            task=task.name,
            task_version=task.version,
            n_units=outcomes.n_units,
            n_groups=outcomes.n_groups,
            scores=_rows(scores),
            warnings=[*answers.warnings, *task.score_warnings(scores)],
        ),
        primary=task.primary(outcomes.facts),
        groups=[score.n_groups for score in scores],
        gold_warnings=gold.warnings,
        plot_data=plot_data(outcomes, task.measures),
        sketch=sketch_of(task, gold, files["predictions"], request.predictions_name, options)
        if request.sketch
        else None,
        hints=answers.hints,
    )
    return report, to_bytes(outcomes)


class ScorerOutputRequest(Request, frozen=True, kw_only=True):
    """Arguments of `scorer_output`.

    task_version: the number of the custom scorer's version; measures, primary: the measures and the name of the ranking
    one, as the scorer declares them; dimensions: name -> values, of the gold version's dimensions.
    """

    job = "scorer_output"
    task: str
    task_version: int
    measures: list[MeasureDeclaration]
    primary: str
    dimensions: dict[str, list[SliceValue]] = {}
    resamples: int = RESAMPLES
    seed: int = SEED


class ScorerOutputReport(ScoreReport):
    """Result of `scorer_output`.

    measures: the names of the measures that have per-unit values in the outcomes; units_sha256: a digest of the units
    of the outcomes, empty without outcomes; n_warnings: the number of the scorer's warnings, whose texts are not shown.
    """

    measures: list[str] = []
    units_sha256: str = ""
    n_warnings: int = 0


def scorer_output(files: Files, request: ScorerOutputRequest) -> tuple[ScorerOutputReport, bytes]:
    """Check a custom scorer's output and add confidence intervals.

    files: `scores`, and `outcomes` if the scorer wrote outcomes. The attachment is the serialized outcomes; without
    them it is empty.
    """
    expected = Expected(
        task=request.task,
        task_version=request.task_version,
        measures=check_declaration(request.measures, request.primary),
        primary=request.primary,
        dimensions=request.dimensions,
    )
    output = scorer_reading.read(files, expected, resamples=request.resamples, seed=request.seed)
    content = output.content
    result = ScoreResult(
        content.task, content.task_version, content.n_units, content.n_groups, _rows(output.scores), []
    )
    report = ScorerOutputReport(
        result,
        primary=request.primary,
        measures=output.measures,
        units_sha256=output.table.facts["units_sha256"] if output.table else "",
        n_warnings=len(content.warnings),
    )
    return report, to_bytes(output.table) if output.table else b""


def _rows(scores: Sequence[Score]) -> list[ScoreRow]:
    return [reproducible(ScoreRow(**score.as_dict())) for score in scores]
