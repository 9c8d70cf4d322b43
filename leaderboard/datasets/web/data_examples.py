"""What the public pages show of a benchmark's data: examples, the format of its predictions, a sample submission.

Only inputs that are public are quoted, and gold only if it is public too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluator.tasks.registry import TASKS
from leaderboard.datasets.web import first_lines
from leaderboard.models import GoldVersion, Split

KINDS = (Split.Kind.DEV, Split.Kind.TRAIN, Split.Kind.FOLD, Split.Kind.TEST)
"""Order in which splits with public gold are preferred for examples."""
N_SAMPLES = 2
"""Lines of the example of a predictions file."""


@dataclass(frozen=True)
class Examples:
    """The first lines of a split. pairs: (inputs, what the gold adds to them; empty if the gold is hidden)."""

    split: Split
    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class PredictionFormat:
    """The format of predictions. split: the split whose first inputs the example answers; None: it answers others."""

    text: str
    example: str
    split: Split | None


def examples_of(splits: Sequence[Split]) -> Examples | None:
    """Return examples of a dataset, if possible with gold; None if no inputs are public.

    splits: those that the viewer may see.
    """
    public = [split for split in splits if _has_public_inputs(split)]
    golds = {split.pk: split.current_gold for split in public if split.gold_public}
    with_gold = sorted((split for split in public if golds.get(split.pk)), key=lambda split: KINDS.index(split.kind))
    chosen = next(iter([*with_gold, *public]), None)
    if chosen is None:
        return None
    gold = golds.get(chosen.pk)
    return Examples(chosen, _first_pairs(chosen.pk, chosen.inputs_sha256, gold.sha256 if gold else ""))


def format_of(task: str, split: Split | None) -> PredictionFormat:
    """Return the format of predictions for a split of a task; for a split without gold, or None, the task's."""
    gold = split.current_gold if split else None
    if split is None or gold is None:
        return PredictionFormat(TASKS[task].prediction_format, TASKS[task].prediction_example, None)
    text = TASKS[task].prediction_format_for(gold.expects, gold.dimensions)
    example = _first_samples(task, split.pk, split.inputs_sha256, gold.pk) if _has_public_inputs(split) else ""
    return PredictionFormat(text, example or TASKS[task].prediction_example, split if example else None)


def has_sample(task: str, split: Split) -> bool:
    """Return whether there is a sample submission for a split."""
    return format_of(task, split).split is not None


def sample_lines(task: str, split: Split, gold: GoldVersion) -> Iterator[str]:
    """Yield a valid answer to each line of a split's public inputs; nothing if the task has no samples."""
    for line in first_lines.input_lines(split):
        answer = TASKS[task].sample_answer(line, gold.expects)
        if answer is None:
            return
        yield json.dumps(answer, ensure_ascii=False) + "\n"


def _has_public_inputs(split: Split) -> bool:
    return bool(split.inputs) and split.inputs_public


# Both results depend on stored files that never change, which their digests identify.
@lru_cache(maxsize=256)
def _first_pairs(split: int, inputs_sha256: str, gold_sha256: str) -> Sequence[tuple[str, str]]:
    row = Split.objects.get(pk=split)
    if not gold_sha256:
        return [(line, "") for line in first_lines.first_inputs(row)]
    return first_lines.first_pairs(row, row.gold_versions.get(sha256=gold_sha256))


@lru_cache(maxsize=256)
def _first_samples(task: str, split: int, inputs_sha256: str, gold: int) -> str:
    lines = sample_lines(task, Split.objects.get(pk=split), GoldVersion.objects.get(pk=gold))
    return "".join(line for line, _ in zip(lines, range(N_SAMPLES), strict=False))
