"""Scores of trivial baselines that do not solve the task, by the task's own scorer."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.sizes import SliceSize
from evaluator.measures.auroc import Auroc
from evaluator.measures.correlation import Correlation
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput


@dataclass(frozen=True)
class BaselineScore:
    """Scores of one baseline on a split.

    doc: what the baseline did, in words. scores: value by measure; None: no value. chance: the value of the measure
    `baseline.audited_measure` that is expected by chance; negative if it is not known.
    """

    baseline: Baseline
    use: AuditUse
    doc: str
    scores: dict[str, float | None]
    chance: float

    def as_dict(self) -> dict[str, Any]:
        return {"system": self.baseline.name, "doc": self.doc, "scores": self.scores, "chance": self.chance}


def trivial(
    split: AuditedSplit, trains: Sequence[Split], options: Mapping[str, Any], whole: SliceSize
) -> tuple[list[BaselineScore], list[Finding]]:
    """Score the task's baselines; return all scores, and a finding on each baseline that is above chance.

    trains: public training files, none or more. options: the task's options, from `Task.parse_options`. whole: the size
    of the whole split, with the expected half-width of its confidence interval. A baseline is above chance if its score
    exceeds chance by more than this half-width; for AUROC and correlations, also if it is lower by more.
    """
    task = split.task
    inputs = [msgspec.json.decode(line) for line in task.public_inputs(split.gold).splitlines()]
    baseline_input = BaselineInput(inputs, trains, task.facts(split.gold), 0, own=split)
    scored = []
    for baseline in task.baselines:
        predictions = baseline.answer(baseline_input) if baseline.audit is not None else None
        if predictions is not None:
            scored.append(_score(split, baseline_input, baseline, predictions, options))
    reach = whole.width.independent or 1.0
    findings = []
    for baseline_score in scored:
        value = baseline_score.scores[baseline_score.baseline.audited_measure]
        if value is not None and baseline_score.chance >= 0 and _distance(split, baseline_score, value) > reach:
            findings.append(_finding(split, baseline_score, value, reach))
    return scored, findings


def _score(
    split: AuditedSplit,
    baseline_input: BaselineInput,
    baseline: Baseline,
    predictions: Iterable[dict[str, Any]],
    options: Mapping[str, Any],
) -> BaselineScore:
    task, use = split.task, baseline.audit or AuditUse()
    stream = io.BytesIO(msgspec.json.Encoder().encode_lines(predictions))
    answers = task.read_predictions(stream, baseline.name, task.validation_data(split.gold), options)
    measures = [measure for measure in task.measures if measure.name in {baseline.audited_measure, *use.shown}]
    scores = score_outcomes(task.score(split.gold, answers, options), measures, resamples=0)
    chance = use.chance(split) if use.chance is not None else baseline.chance
    return BaselineScore(
        baseline,
        use,
        baseline.doc if baseline_input.train_splits else use.untrained or baseline.doc,
        {score.measure: score.value for score in scores if not score.slice},
        -1.0 if chance is None else chance,
    )


def _distance(split: AuditedSplit, scored: BaselineScore, value: float) -> float:
    """Return how far a value is above chance; for AUROC and correlations, how far from chance in either direction.

    An inverted ranking is as informative as a right one; a share of right answers below chance is not informative.
    value: the baseline's value of its audited measure.
    """
    both_ways = isinstance(split.task.measure(scored.baseline.audited_measure), Auroc | Correlation)
    return abs(value - scored.chance) if both_ways else value - scored.chance


def _finding(split: AuditedSplit, scored: BaselineScore, value: float, reach: float) -> Finding:
    watched = scored.baseline.audited_measure
    return Finding(
        Severity.NOTE if scored.baseline.known else Severity.WARNING,
        "trivial-system",
        f"{scored.baseline.name} has {watched} {value:.3f}; chance is {scored.chance:.3f} (±{reach:.3f})",
        f"{scored.doc}: systems may score above chance without solving the task",
        scored.use.advice,
        split.file,
        numbers=scored.as_dict() | {"watched": watched, "reach": reach},
    )
