"""Baselines that solve nothing, made of what participants have: the public inputs and public gold of other splits.

They never see the gold that they are scored on. The same inputs, training gold and seed give the same bytes.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from evaluator.baselines import claims, questions, spans, texts, triples
from evaluator.baselines.base import Asked, Baseline
from evaluator.errors import UsageError, shown
from evaluator.tasks.audit.split import Split
from evaluator.tasks.registry import find_task

BASELINES: Mapping[str, tuple[Baseline, ...]] = {
    "fact-verification": claims.BASELINES,
    "fact-checking": triples.BASELINES,
    "link-prediction": questions.BASELINES,
    "knowledge-base-population": spans.BASELINES,
    "fact-extraction": texts.FACTS,
    "metric-correlation": texts.METRICS,
}
"""By task, in the order in which they are shown."""

__all__ = ["BASELINES", "Baseline", "find_baseline", "made"]


def find_baseline(task: str, name: str) -> Baseline:
    """Raises UsageError."""
    found = {one.name: one for one in BASELINES[find_task(task).name]}
    if name not in found:
        raise UsageError(f"unknown baseline {shown(name)} of {task}, expected one of: {', '.join(found)}")
    return found[name]


def made(
    baseline: Baseline,
    *,
    task: str,
    inputs: BinaryIO,
    name: str,
    trains: Sequence[Split],
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    seed: int,
) -> bytes:
    """The baseline's predictions, JSON Lines; none where it can say nothing of these inputs.

    inputs: of the task, `name` is their file's; trains: public gold of other splits; facts: what validation may know.
    Raises InputsError.
    """
    find_task(task).read_inputs(inputs, name, options, facts)
    inputs.seek(0)
    body = inputs.read()
    # It was read through within its limits a moment ago.
    raw = io.BytesIO(gzip.decompress(body) if name.endswith(".gz") else body)
    asked = Asked([msgspec.json.decode(line) for line in raw], trains, facts, seed)
    answers = baseline.answer(asked)
    return b"" if answers is None else msgspec.json.Encoder().encode_lines(answers)
