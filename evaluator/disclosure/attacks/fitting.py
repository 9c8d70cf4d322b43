"""Attacks that read labels from the digits of shown numbers: all labellings of a few labels are scored, as anybody can
with the public scorer, and those that would not be shown like that are ruled out.

In each slice, files ask about one block of labels after the other; of the other labels they say nothing, or the same.
For rankings this is an order code (distinct scores in a block, ties elsewhere); where the seed of the resamples and the
order of groups are known, the ends of an interval are a fingerprint of which items are right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.disclosure import ladder, policy, rounding
from evaluator.disclosure.attacks.target import Answer, Ask, Guess, Items, Key, Known
from evaluator.disclosure.policy import Policy
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.outcomes.weighted import Sample, View
from evaluator.statistics.bootstrap import BootstrapReplicates, group_weights

BLOCK = 14
"""Labels of a block, all of whose labellings are scored; a slice of at most WHOLE labels is one block."""
WHOLE = 16
CODE = 32
"""Labels of a block that is decoded in two halves."""
_COLUMNS = 4096
_EXACT = 6e-13
_TOLERANCE = 1e-9
_MOST_FINGERPRINTS = 1024  # labellings whose intervals are computed at a time

Beliefs = Numbers
"""For each label, the probability that it is 1."""
Fits = npt.NDArray[np.bool_]


@dataclass
class _Block:
    """A block of labels of one slice. items: the slice's labels. fits: a mask over the labellings of the block."""

    key: Key
    items: Items
    labels: Items
    fits: Fits

    @property
    def b(self) -> int:
        return len(self.labels)


def fitting(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Ask about block after block in every slice at once, with as many random files a block as it needs."""
    beliefs = np.full(known.n, 0.5)
    parts = known.parts or {(): np.arange(known.n)}
    most = min(k - 1, known.detailed) if known.parts and known.detailed is not None else k - 1
    for blocks in _blocks(parts):
        coding = known.style.code(random, WHOLE)
        codings = [coding, *(known.style.code(random, WHOLE) for _ in range(_files_needed(known, blocks, coding) - 1))]
        answers = [ask(_file(known, blocks, coding)) for coding in codings[:most]]
        most -= len(answers)
        tables: dict[Any, Any] = {}
        for block in blocks:
            _rule_out(known, block, codings, answers, tables)
            beliefs[block.labels] = _beliefs(block)
        if most < 1:
            break
    final = elected(beliefs - 0.5, random)
    ask(known.style.file(final))
    return final


def order_code(ask: Ask, k: int, random: np.random.Generator, known: Known) -> Guess:
    """Read CODE labels of each slice from each answer's exact average precision."""
    beliefs = np.full(known.n, 0.5)
    parts = known.parts or {(): np.arange(known.n)}
    scored = "average_precision" in {measure.name for measure in known.style.measures}
    for index in range(k - 1 if scored else 0):
        blocks = {key: items[index * CODE : (index + 1) * CODE] for key, items in parts.items()}
        if not any(map(len, blocks.values())):
            break
        file = np.zeros(known.n)
        for block in blocks.values():
            file[block] = np.arange(len(block), 0, -1)
        answer = ask(file)
        for key, block in blocks.items():
            row = answer.get(("average_precision", key))
            if row is not None and row["value"] is not None and len(block):
                found = ordered_labels(row["value"], len(block), known.positives[key], len(parts[key]))
                auroc = answer.get(("auroc", key), {}).get("value")
                if auroc is not None and len(found) > 1:
                    found = found[np.isclose(_auroc(found, known.positives[key], len(parts[key])), auroc, atol=1e-9)]
                if len(found):
                    beliefs[block] = found.mean(axis=0)
    final = elected(beliefs - 0.5, random)
    ask(known.style.file(final))
    return final


def _auroc(labellings: Numbers, positives: int, n: int) -> Numbers:
    """Return the AUROC of labellings of the first items of n, as in `ordered_labels`."""
    n_before = np.cumsum(1 - labellings, axis=1)
    inside, negatives = labellings.sum(axis=1), n_before[:, -1]
    others = n - positives - negatives
    pairs = (labellings * (negatives[:, None] - n_before)).sum(axis=1) + inside * others
    value: Numbers = (pairs + (positives - inside) * others / 2) / (positives * (n - positives))
    return value


def ordered_labels(value: float, b: int, positives: int, n: int) -> Numbers:
    """Return the labellings of the b first of n items that have an average precision, by meet in the middle.

    The other items are tied below them; `positives` of all items have the label 1. With the labels y and their number c
    up to each rank i, the value times `positives` is the sum of y c / i, and (positives - those in the code) times the
    share of positives.
    """
    by_count, second, (right, slope, more) = _both_parts(b)
    found = []
    for count, (first, left) in enumerate(by_count):
        rest = value * positives - right - count * slope - (positives - count - more) * positives / n
        tolerance = _EXACT * positives
        near = np.flatnonzero((rest >= left[0] - tolerance) & (rest <= left[-1] + tolerance))
        begin, end = (np.searchsorted(left, rest[near] + sign * tolerance) for sign in (-1, 1))
        for at in np.flatnonzero(end > begin).tolist():
            found += [np.concatenate([first[row], second[near[at]]]) for row in range(begin[at], end[at])]
    return np.array(found).reshape(-1, b)


@lru_cache(maxsize=4)
def _both_parts(b: int) -> tuple[list[tuple[Numbers, Numbers]], Numbers, Numbers]:
    """Return what `ordered_labels` needs of the labellings of each half of a code of b labels.

    Of the first half: for each number of labels 1, the labellings and their sums of y c / i, ascending. Of the second:
    the labellings, and three rows: the same sums with c counted from the half, the sums of y / i, numbers of labels 1.
    """
    half = b // 2
    first, second = _patterns(half), _patterns(b - half)
    ranks = np.arange(1, b + 1)
    counts = first.sum(axis=1)
    left = (first * np.cumsum(first, axis=1) / ranks[:half]).sum(axis=1)
    order = np.lexsort((left, counts))
    edges = np.searchsorted(counts[order], np.arange(half + 2))
    by_count = [(first[order[begin:end]], left[order[begin:end]]) for begin, end in pairwise(edges.tolist())]
    right = (second * np.cumsum(second, axis=1) / ranks[half:]).sum(axis=1)
    return by_count, second, np.array([right, (second / ranks[half:]).sum(axis=1), second.sum(axis=1)])


def elected(votes: Numbers, random: np.random.Generator) -> Numbers:
    """Return the label that each vote speaks for, by its sign; a random one for 0."""
    return np.where(votes == 0, random.integers(0, 2, len(votes)), votes > 0).astype(np.float64)


def _blocks(parts: Mapping[Key, Items]) -> Iterator[list[_Block]]:
    """Yield lists of blocks, one of each slice, until all slices are asked about."""
    largest = max(map(len, parts.values()))
    size = largest if largest <= WHOLE else BLOCK
    for begin in range(0, largest, size):
        yield [
            _Block(key, items, items[begin : begin + size], np.ones(1 << len(items[begin : begin + size]), np.bool_))
            for key, items in parts.items()
            if begin < len(items)
        ]


def _file(known: Known, blocks: Sequence[_Block], coding: Guess) -> Guess:
    file = np.full(known.n, known.style.rest)
    for block in blocks:
        file[block.labels] = coding[: block.b]
    return file


def _patterns(b: int) -> Numbers:
    """Return all labellings of b labels: 2^b x b."""
    return (np.arange(1 << b)[:, None] >> np.arange(b) & 1).astype(np.float64)


def _table(known: Known, block: _Block, coding: Guess) -> dict[str, Numbers]:
    """Return measure -> its value for each labelling of a block; NaN: it cannot occur.

    A column of weights is a labelling: each label has a row as 1 and one as 0, and so have the slice's other labels.
    """
    b, m = block.b, len(block.items)
    patterns = _patterns(b).T
    inside = patterns.sum(axis=0)
    others = known.positives[block.key] - inside if known.style.needs_balance else np.full(patterns.shape[1], 0.0)
    rest = np.array([known.style.rest] * 2)
    guess = np.concatenate([coding[:b], coding[:b], rest])
    labels = np.concatenate([np.ones(b), np.zeros(b), [1, 0]])
    outcomes = Outcomes(
        task="",
        task_version=0,
        n_units=len(guess),
        group_names=tuple(range(len(guess))),
        groups=np.arange(len(guess), dtype=np.int32),
        statistics=dict(known.style.columns(guess, labels)),
        dimensions={},
    )
    weights = np.concatenate([patterns, 1 - patterns, [others, m - b - others]])
    possible = (weights >= 0).all(axis=0)
    columns = np.flatnonzero(possible)
    values = {measure.name: np.full(patterns.shape[1], math.nan) for measure in known.style.measures}
    for begin in range(0, len(columns), _COLUMNS):
        batch = columns[begin : begin + _COLUMNS]
        sample = Sample(View.whole(outcomes), np.ascontiguousarray(weights[:, batch]))
        for measure in known.style.measures:
            values[measure.name][batch] = measure.evaluate(sample)
    return values


def _files_needed(known: Known, blocks: Sequence[_Block], coding: Guess) -> int:
    """Return how many random files tell the labels of a block, by what one tells of the longest block."""
    if known.seed is not None and known.policy.exact:
        return 1
    block = max(blocks, key=lambda block: block.b)
    table = _table(known, block, coding)
    levels = []
    for measure in known.style.measures:
        low, high = _range_of(known.policy, measure, measure.high, known.n_groups_of(block.key))
        width = max(high - low, 1e-9)
        levels.append(np.nan_to_num(np.round(table[measure.name] / width)))
    _, counts = np.unique(np.array(levels).T, axis=0, return_counts=True)
    shares = counts / counts.sum()
    bits = -float((shares * np.log2(shares)).sum())
    return max(1, math.ceil(block.b / max(bits, 0.05) + (bits < block.b - 0.5)))


def _range_of(rules: Policy, measure: Measure, value: float, n_groups: int) -> tuple[float, float]:
    """Return the smallest and the largest value that is shown as `value`."""
    if rules.kind == policy.Kind.LADDER:
        size = ladder.step(measure, n_groups) or math.inf
        if measure.higher_is_better is False:
            return value - size + _TOLERANCE, value + _TOLERANCE
        return value - _TOLERANCE, value + size - _TOLERANCE
    if rules.exact:
        return value - _TOLERANCE, value + _TOLERANCE
    size = rounding.step(measure, n_groups) or rounding.relative_step(value, n_groups)
    return value - size / 2 - _TOLERANCE, value + size / 2 + _TOLERANCE


def _rule_out(
    known: Known, block: _Block, codings: Sequence[Guess], answers: Sequence[Answer], tables: dict[Any, Any]
) -> None:
    """Rule out the labellings of a block for which the answers to its files would be others.

    tables: those that were computed for slices of the same size.
    """
    n_groups = known.n_groups_of(block.key)
    for coding, answer in zip(codings, answers, strict=False):
        same = (block.b, len(block.items), known.positives[block.key] * known.style.needs_balance, coding.tobytes())
        for measure in known.style.measures:
            row = answer.get((measure.name, block.key))
            if row is None or row["value"] is None:
                continue
            if same not in tables:
                tables[same] = _table(known, block, coding)
            low, high = _range_of(known.policy, measure, row["value"], n_groups)
            block.fits &= (tables[same][measure.name] >= low) & (tables[same][measure.name] <= high)
            if known.seed is not None and row["low"] is not None and not known.style.needs_balance:
                _fit_interval(known, measure, block, coding, row)


def _beliefs(block: _Block) -> Beliefs:
    """Return for each label of a block the share of fitting labellings in which it is 1; one half if none fits."""
    left = np.flatnonzero(block.fits)
    if not len(left):
        return np.full(block.b, 0.5)
    shares: Beliefs = (left[:, None] >> np.arange(block.b) & 1).mean(axis=0)
    return shares


def _fit_interval(known: Known, measure: Measure, block: _Block, coding: Guess, row: Mapping[str, Any]) -> None:
    """Rule out the labellings of a block that would have another interval, if each group has one label.

    It is computed for means only.
    """
    items = block.items
    groups = known.groups[items]
    left = np.flatnonzero(block.fits)
    if len(np.unique(groups)) < len(groups) or len(left) < 2:
        return
    assert known.seed is not None
    weights = np.concatenate(list(group_weights(known.n_groups, known.resamples, known.seed)), axis=1)[groups]
    inside = np.searchsorted(items, block.labels)
    n_resampled = weights.sum(axis=0)
    size = 0.0 if known.policy.exact else rounding.step(measure, len(groups)) or 0.0
    for begin in range(0, len(left), _MOST_FINGERPRINTS):
        batch = left[begin : begin + _MOST_FINGERPRINTS]
        patterns = (batch[:, None] >> np.arange(block.b) & 1).astype(np.float64)
        correct = known.style.columns(coding[: block.b], patterns)  # one row a labelling
        right = np.asarray(next(value for name, value in correct.items() if name in _numerators(measure)))
        with np.errstate(invalid="ignore", divide="ignore"):
            values = (right @ weights[inside]) / n_resampled
        replicates = BootstrapReplicates(right.sum(axis=1) / len(items), len(items), known.resamples)
        replicates.add(list(values), weights)
        low, high = replicates.intervals()
        block.fits[batch] &= (low >= row["low"] - _TOLERANCE) & (low <= row["low"] + size + _TOLERANCE)
        block.fits[batch] &= (high <= row["high"] + _TOLERANCE) & (high >= row["high"] - size - _TOLERANCE)


def _numerators(measure: Measure) -> set[str]:
    numerator = getattr(measure, "numerator", None)
    return set() if numerator is None else set(numerator.terms)
