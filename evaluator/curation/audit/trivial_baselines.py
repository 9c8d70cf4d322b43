"""What systems that do not solve the task would score, by the task's own scorer."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from evaluator.curation.audit.sizes import Sized
from evaluator.measures.auroc import Auroc
from evaluator.measures.correlation import Correlation
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput


@dataclass(frozen=True)
class Scored:
    """scores: the values that the baseline is judged by; the watched one is held against `chance`, where that is not
    below 0."""

    baseline: Baseline
    use: AuditUse
    doc: str
    scores: dict[str, float | None]
    chance: float

    def as_dict(self) -> dict[str, Any]:
        return {"system": self.baseline.name, "doc": self.doc, "scores": self.scores, "chance": self.chance}


def trivial(
    split: Split, trains: Sequence[Split], options: Mapping[str, Any], whole: Sized
) -> tuple[list[Scored], list[Finding]]:
    """trains: public training files, none or more. whole: of the split, for how far chance reaches."""
    task = split.task
    inputs = [msgspec.json.decode(line) for line in task.public_inputs(split.gold).splitlines()]
    given = BaselineInput(inputs, trains, task.facts(split.gold), 0, own=split)
    scored = []
    for baseline in task.baselines:
        predictions = baseline.answer(given) if baseline.audit is not None else None
        if predictions is not None:
            scored.append(_scored(split, given, baseline, predictions, options))
    reach = whole.width.independent or 1.0
    findings = []
    for one in scored:
        value = one.scores[one.baseline.watched]
        if value is not None and one.chance >= 0 and _apart(split, one, value) > reach:
            findings.append(_finding(split, one, value, reach))
    return scored, findings


def _scored(
    split: Split,
    given: BaselineInput,
    baseline: Baseline,
    predictions: Iterable[dict[str, Any]],
    options: Mapping[str, Any],
) -> Scored:
    task, use = split.task, baseline.audit or AuditUse()
    stream = io.BytesIO(msgspec.json.Encoder().encode_lines(predictions))
    answers = task.read_predictions(stream, baseline.name, task.known(split.gold), options)
    measures = [measure for measure in task.measures if measure.name in {baseline.watched, *use.shown}]
    scores = score_outcomes(task.score(split.gold, answers, options), measures, resamples=0)
    chance = use.chance(split) if use.chance is not None else baseline.chance
    return Scored(
        baseline,
        use,
        baseline.doc if given.trains else use.untrained or baseline.doc,
        {score.measure: score.value for score in scores if not score.slice},
        -1.0 if chance is None else chance,
    )


def _apart(split: Split, one: Scored, value: float) -> float:
    """From what knowing nothing gives; a ranking the wrong way round tells as much, few right answers do not."""
    both_ways = isinstance(split.task.measure(one.baseline.watched), Auroc | Correlation)
    return abs(value - one.chance) if both_ways else value - one.chance


def _finding(split: Split, one: Scored, value: float, reach: float) -> Finding:
    watched = one.baseline.watched
    return Finding(
        Severity.NOTE if one.baseline.known else Severity.WARNING,
        "trivial-system",
        f"{one.baseline.name} has {watched} {value:.3f}; knowing nothing gives {one.chance:.3f} (±{reach:.3f})",
        f"{one.doc}: systems may score without solving the task",
        one.use.advice,
        split.file,
        numbers=one.as_dict() | {"watched": watched, "reach": reach},
    )
