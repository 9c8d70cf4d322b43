"""Predictions: are they well formed, and what are they worth?"""

from collections.abc import Sequence
from typing import Any

import msgspec

from evaluator.custom_scorer import report as scorer_reading
from evaluator.custom_scorer.measures import Declared, declared
from evaluator.custom_scorer.scores_file import Expected
from evaluator.jobs.base import RESAMPLES, SEED, Files, Report, Request, Slice, TaskRequest, reproducible
from evaluator.jobs.halves_file import read_division
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.subset import part_of
from evaluator.outcomes.serialization import to_bytes
from evaluator.outcomes.table import SliceValue
from evaluator.plots.summary import Drawing, drawing_of
from evaluator.scoring.score import Score, score_outcomes


class ValidateRequest(TaskRequest, frozen=True, kw_only=True):
    """expects: what the gold's `PrepareGoldReport` says that predictions must fit. limits: of the file."""

    job = "validate"
    inputs_name: str
    predictions_name: str
    expects: dict[str, Any] = {}
    limits: ReadLimits = ReadLimits()


class ValidateReport(Report):
    n_lines: int
    warnings: list[str]


def validate(files: Files, request: ValidateRequest) -> tuple[ValidateReport, bytes]:
    """Are the predictions well formed? No gold is read. files: inputs, predictions."""
    task, options = request.parsed()
    known = task.read_inputs(files["inputs"], request.inputs_name, options, request.expects, ReadLimits())
    answers = task.read_predictions(files["predictions"], request.predictions_name, known, options, request.limits)
    return ValidateReport(answers.n_lines, answers.warnings), b""


class ScoreRequest(TaskRequest, frozen=True, kw_only=True):
    """half: public or private where only a half of the gold's groups counts."""

    job = "score"
    gold_name: str
    predictions_name: str
    half: str = ""
    resamples: int = RESAMPLES
    seed: int = SEED
    limits: ReadLimits = ReadLimits()


class ScoreRow(msgspec.Struct, forbid_unknown_fields=True):
    """One measure on one slice. n: gold units."""

    measure: str
    slice: Slice
    value: float | None
    low: float | None
    high: float | None
    n: int


class ScoreResult(msgspec.Struct, forbid_unknown_fields=True):
    """The object that `score --json` prints."""

    task: str
    task_version: int
    n_units: int
    n_groups: int
    scores: list[ScoreRow]
    warnings: list[str]


class ScoreReport(Report):
    """groups: of gold, that each score has units of, in the order of the scores; none: they were not counted.

    primary: the name of the measure that ranks. drawing: None where an organiser's own scorer scored.
    """

    result: ScoreResult
    primary: str
    groups: list[int] = []
    gold_warnings: list[str] = []
    drawing: Drawing | None = None

    @property
    def scores(self) -> list[ScoreRow]:
        return self.result.scores

    @property
    def warnings(self) -> list[str]:
        return self.result.warnings


def score(files: Files, request: ScoreRequest) -> tuple[ScoreReport, bytes]:
    """Every score, with intervals; the attachment is the outcomes.

    files: gold, predictions, and division where the request names a half.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    answers = task.read_predictions(
        files["predictions"], request.predictions_name, task.known(gold), options, request.limits
    )
    outcomes = task.score(gold, answers, options)
    if request.half:
        division = read_division(files["division"].read())
        units = task.measure(task.primary(outcomes.facts)).units
        outcomes = part_of(outcomes, getattr(division, request.half), units=units)
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
            warnings=[*answers.warnings, *task.remarks(scores)],
        ),
        primary=task.primary(outcomes.facts),
        groups=[score.n_groups for score in scores],
        gold_warnings=gold.warnings,
        drawing=drawing_of(outcomes, task.measures),
    )
    return report, to_bytes(outcomes)


class ScorerOutputRequest(Request, frozen=True, kw_only=True):
    """task_version: the scorer's number. measures, primary: as it declares them. dimensions: of the gold version."""

    job = "scorer_output"
    task: str
    task_version: int
    measures: list[Declared]
    primary: str
    dimensions: dict[str, list[SliceValue]] = {}
    resamples: int = RESAMPLES
    seed: int = SEED


class ScorerOutputReport(ScoreReport):
    """given: the measures that outcomes give. units_sha256: of the units in outcomes, empty without."""

    given: list[str] = []
    units_sha256: str = ""
    n_warnings: int = 0


def scorer_output(files: Files, request: ScorerOutputRequest) -> tuple[ScorerOutputReport, bytes]:
    """What an organiser's own scorer wrote, checked, with intervals; the attachment is its outcomes, empty without.

    files: scores, and outcomes where there are any.
    """
    expected = Expected(
        task=request.task,
        task_version=request.task_version,
        measures=declared(request.measures, request.primary),
        primary=request.primary,
        dimensions=request.dimensions,
    )
    read = scorer_reading.read(files, expected, resamples=request.resamples, seed=request.seed)
    found = read.found
    result = ScoreResult(found.task, found.task_version, found.n_units, found.n_groups, _rows(read.scores), [])
    report = ScorerOutputReport(
        result,
        primary=request.primary,
        given=read.given,
        units_sha256=read.table.facts["units_sha256"] if read.table else "",
        n_warnings=len(found.warnings),
    )
    return report, to_bytes(read.table) if read.table else b""


def _rows(scores: Sequence[Score]) -> list[ScoreRow]:
    return [ScoreRow(**reproducible(score.as_dict())) for score in scores]
