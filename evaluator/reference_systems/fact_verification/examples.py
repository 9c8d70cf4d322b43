"""Files of the fact-verification systems: labelled claims, their weights and the inputs; options that they share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from evaluator.errors import GoldError, InputsError, UsageError, shown
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.reference_systems.base import Job, Line, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.tasks.base import Option
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, GOLD, LABELS, label_code
from evaluator.tasks.fact_verification.layout import INPUTS as QUESTIONS

TASK = "fact-verification"
_EVIDENCE = ("evidence_text is missing", "no such key", "the sentence to compare the claim with")


@dataclass(frozen=True)
class Pair:
    """A claim and its evidence sentence, which is empty if the line has none."""

    claim: str
    evidence: str


@dataclass
class Examples:
    """Pairs of a claim and its evidence sentence, with their labels.

    weights: the weight of each pair in training; all are 1 without --weights.
    """

    pairs: list[Pair] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)


class _Weight(msgspec.Struct, gc=False):
    id: str | int
    weight: float


_WEIGHTS = Format(_Weight, Schema(frozenset({"id", "weight"})), lambda _: 2)


def read_examples(job: Job, *, with_evidence: bool) -> Examples:
    """Return the job's labelled claims, without those whose label is not in the option `labels`.

    with_evidence: True to refuse lines without `evidence_text`. Raises GoldError for invalid lines, and for claims
    without a line in the file of --weights; UsageError if fewer than two labels are left.
    """
    weights = _read_weights(job)
    examples = Examples()
    for path in job.paths("train"):
        reader = Reader(str(path), GOLD, GoldError)
        register, problems = IdRegister(reader.problems), reader.problems
        with opened(path) as stream:
            for number, line in reader.records(stream):
                code = label_code(line.label)
                if code < 0:
                    problems.add(number, "unknown label", shown(line.label), EXPECTED_LABEL)
                if with_evidence and line.evidence_text is msgspec.UNSET:
                    problems.add(number, *_EVIDENCE)
                if weights is not None and line.id not in weights:
                    problems.add(number, "the claim has no weight", f"id {shown(line.id)}", "a line of --weights")
                if register.add(line.id, number) and LABELS[code] in job.options[LABELS_OPTION.name]:
                    examples.pairs.append(_pair(line))
                    examples.labels.append(LABELS[code])
                    examples.weights.append(1.0 if weights is None else weights.get(line.id, 1.0))
        problems.raise_if_any()
    if len({*examples.labels}) < 2:
        raise UsageError(
            f"the claims of --train have only {len({*examples.labels})} of the labels that the option `labels` lists; "
            "expected at least two"
        )
    return examples


def read_questions(job: Job, *, with_evidence: bool) -> tuple[list[Id], list[Pair]]:
    """Return (the ids, the pairs of a claim and its evidence sentence) of the job's inputs.

    with_evidence: True to refuse lines without `evidence_text`. Raises InputsError for invalid lines.
    """
    ids: list[Id] = []
    pairs: list[Pair] = []
    for path in job.paths(INPUTS):
        reader = Reader(str(path), QUESTIONS, InputsError)
        register = IdRegister(reader.problems)
        with opened(path) as stream:
            for number, line in reader.records(stream):
                if with_evidence and line.evidence_text is msgspec.UNSET:
                    reader.problems.add(number, *_EVIDENCE)
                if register.add(line.id, number):
                    ids.append(line.id)
                    pairs.append(_pair(line))
        reader.problems.raise_if_any()
    return ids, pairs


def prediction(identifier: Id, label: str) -> Line:
    """Return a line of predictions of fact-verification with this id and label.

    Its evidence is an empty list, because some benchmarks require the key.
    """
    return {"id": identifier, "predicted_label": str(label), "predicted_evidence": []}


def _pair(line: Any) -> Pair:
    return Pair(line.claim, "" if line.evidence_text is msgspec.UNSET else line.evidence_text)


def _read_weights(job: Job) -> Mapping[Id, float] | None:
    """Return the weight of each claim by its id; None if the job has no file of weights."""
    weights: dict[Id, float] = {}
    for path in job.paths("weights"):
        reader = Reader(str(path), _WEIGHTS, GoldError)
        register = IdRegister(reader.problems)
        with opened(path) as stream:
            for number, line in reader.records(stream):
                if not 0 < line.weight < math.inf:
                    reader.problems.add(number, "weight is not valid", f"{line.weight:g}", "a number above 0")
                if line.id in weights:
                    reader.problems.add(number, "the id has a weight in an earlier file", shown(line.id), "one weight")
                if register.add(line.id, number):
                    weights[line.id] = line.weight
        reader.problems.raise_if_any()
    return weights if job.paths("weights") else None


def _strength(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError("a number above 0")
    return value


def _labels(text: str) -> tuple[str, ...]:
    codes = sorted({label_code(name.strip()) for name in text.split(",")})
    if codes[0] < 0 or len(codes) < 2:
        raise ValueError(f"two or more of {', '.join(LABELS)}, separated by commas")
    return tuple(LABELS[code] for code in codes)


LABELS_OPTION = Option("labels", "Labels to learn and predict.", ",".join(LABELS), _labels)


def strength_option(default: float) -> Option:
    """Return the option `strength` of the L2 regularization: 1 / C in scikit-learn. default: its value if not set."""
    return Option("strength", "Strength of the L2 regularization.", f"{default:g}", _strength)
