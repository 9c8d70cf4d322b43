"""What systems that do not solve the task would score, by the task's own scorer."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from evaluator.curation.audit.sizes import Sized
from evaluator.curation.audit.trivial_baselines import claims, facts, questions, spans, texts
from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split

_SYSTEMS: Mapping[str, Callable[[Split, Sequence[Split]], Iterator[Trivial]]] = {
    "fact-verification": claims.systems,
    "fact-checking": facts.systems,
    "link-prediction": questions.systems,
    "knowledge-base-population": spans.systems,
    "fact-extraction": texts.fact_systems,
    "metric-correlation": texts.metric_systems,
}


@dataclass(frozen=True)
class Scored:
    """scores: the values that the system is judged by; `watched` is held against `chance`; known: see
    `Trivial`."""

    system: str
    doc: str
    scores: dict[str, float | None]
    watched: str
    chance: float
    known: bool

    def as_dict(self) -> dict[str, Any]:
        return {"system": self.system, "doc": self.doc, "scores": self.scores, "chance": self.chance}


def trivial(
    split: Split, trains: Sequence[Split], options: Mapping[str, Any], whole: Sized
) -> tuple[list[Scored], list[Finding]]:
    """trains: public training files, none or more. whole: of the split, for how far chance reaches."""
    scored = [_scored(split, system, options) for system in _SYSTEMS[split.task.name](split, trains)]
    reach = whole.width.independent or 1.0
    findings = []
    for one in scored:
        value = one.scores[one.watched]
        if value is not None and one.chance >= 0 and _apart(one, value) > reach:
            findings.append(_finding(split, one, value, reach))
    return scored, findings


def _scored(split: Split, system: Trivial, options: Mapping[str, Any]) -> Scored:
    task = split.task
    answers = task.read_predictions(_written(system.predictions), system.name, task.known(split.gold), options)
    wanted = {system.watched, *system.shown}
    measures = [measure for measure in task.measures if measure.name in wanted]
    scores = score_outcomes(task.score(split.gold, answers, options), measures, resamples=0)
    values = {score.measure: score.value for score in scores if not score.slice}
    return Scored(system.name, system.doc, values, system.watched, system.chance, system.known)


def _apart(one: Scored, value: float) -> float:
    """From what knowing nothing gives; a ranking the wrong way round tells as much, few right answers do not."""
    return abs(value - one.chance) if one.watched in {"auroc", "spearman"} else value - one.chance


def _written(predictions: Iterable[dict[str, Any]]) -> io.BytesIO:
    encode = msgspec.json.Encoder().encode
    return io.BytesIO(b"".join(encode(line) + b"\n" for line in predictions))


def _finding(split: Split, one: Scored, value: float, reach: float) -> Finding:
    return Finding(
        Severity.NOTE if one.known else Severity.WARNING,
        "trivial-system",
        f"{one.system} has {one.watched} {value:.3f}; knowing nothing gives {one.chance:.3f} (±{reach:.3f})",
        f"{one.doc}: systems may score without solving the task",
        "show exact_f1 and span_ratio beside it, as boards do"
        if one.known
        else "balance what gives it away (split symmetric, another draw), or show this score on the board",
        split.file,
        numbers=one.as_dict() | {"watched": one.watched, "reach": reach},
    )
