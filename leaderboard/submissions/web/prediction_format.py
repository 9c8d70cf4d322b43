"""The format of predictions for a split, and a sample: valid predictions for the ids of the split's inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evaluator.tasks.registry import TASKS
from leaderboard.core import stored_lines
from leaderboard.models import GoldVersion, Split

N_SAMPLES = 2
"""Lines of the example of a predictions file."""


@dataclass(frozen=True)
class PredictionFormat:
    """The format of predictions, as pages show it.

    text: a description. example: lines of a predictions file. split: the split for whose first inputs the example has
    predictions; None: the example is the task's, for invented inputs.
    """

    text: str
    example: str
    split: Split | None


def format_of(task: str, split: Split | None) -> PredictionFormat:
    """Return the format of predictions for a split; the task's general format if the split is None or has no gold.

    task: its name. The caller has checked that the viewer may see the split. Hidden inputs are not quoted.
    """
    gold = split.current_gold if split else None
    if split is None or gold is None:
        return PredictionFormat(TASKS[task].prediction_format, TASKS[task].prediction_example, None)
    text = TASKS[task].prediction_format_for(gold.expects, gold.dimensions)
    has_inputs = bool(split.inputs) and split.inputs_public
    example = _first_samples(task, split.pk, split.inputs_sha256, gold.pk) if has_inputs else ""
    return PredictionFormat(text, example or TASKS[task].prediction_example, split if example else None)


def has_sample(task: str, split: Split) -> bool:
    """Return whether there is a sample for a split: it has public inputs and gold, and the task has samples."""
    return format_of(task, split).split is not None


def sample_lines(task: str, split: Split, gold: GoldVersion) -> Iterator[str]:
    """Yield the lines of a sample: a valid prediction for each line of a split's public inputs.

    Yields nothing if the task has no samples. task: its name. gold: whose stored requirements the predictions meet.
    """
    for line in stored_lines.lines(split.inputs):
        answer = TASKS[task].sample_answer(line, gold.expects)
        if answer is None:
            return
        yield json.dumps(answer, ensure_ascii=False) + "\n"


# The result depends on stored files that never change, which the digest and the gold version identify.
@lru_cache(maxsize=256)
def _first_samples(task: str, split: int, inputs_sha256: str, gold: int) -> str:
    lines = sample_lines(task, Split.objects.get(pk=split), GoldVersion.objects.get(pk=gold))
    return "".join(line for line, _ in zip(lines, range(N_SAMPLES), strict=False))
