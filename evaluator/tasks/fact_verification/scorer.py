"""Scorer of fact-verification: compares predictions with gold, claim by claim."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.jsonl.ids import group_codes
from evaluator.outcomes.table import Codes, Numbers
from evaluator.tasks.fact_verification.gold import Gold
from evaluator.tasks.fact_verification.layout import LABELS, NOT_ENOUGH_INFO, GoldSentence
from evaluator.tasks.fact_verification.predictions import Answers
from evaluator.tasks.items.base import ItemStatistics

_UNVERIFIABLE = LABELS.index(NOT_ENOUGH_INFO)


def statistics(gold: Gold, answers: Answers, max_evidence: int | None) -> ItemStatistics:
    """Return the columns of the outcomes, with one row per claim.

    max_evidence: how many predicted evidence sentences of a claim count, from the first; None: all.
    """
    labels = np.array(gold.labels, dtype=np.int8)
    correct = labels == answers.labels
    columns: dict[str, Any] = {"claim": np.ones(len(labels)), "correct": correct}
    if gold.has_evidence:
        columns |= _evidence_columns(gold, answers, labels, correct, max_evidence)
    if gold.declares_origin:
        columns |= _symmetric_columns(gold, group_codes(gold.groups)[1], correct)
    facts = {"evidence": gold.has_evidence, "origin": gold.declares_origin}
    return ItemStatistics(columns, {"label": [LABELS[code] for code in gold.labels]}, facts=facts)


def _evidence_columns(
    gold: Gold,
    answers: Answers,
    labels: npt.NDArray[np.int8],
    correct: npt.NDArray[np.bool_],
    max_evidence: int | None,
) -> dict[str, Any]:
    verifiable = labels != _UNVERIFIABLE
    precision = np.zeros(len(labels))
    recall = np.zeros(len(labels))
    complete = np.zeros(len(labels), dtype=np.bool_)
    for row in np.flatnonzero(verifiable).tolist():
        sets = gold.evidence[row] or []
        precision[row], complete[row] = _compare(sets, answers.evidence[row][:max_evidence])
        recall[row] = complete[row] or not sets
    return {
        "strict": correct & (complete | ~verifiable),
        "verifiable": verifiable,
        "evidence_precision": precision,
        "evidence_recall": recall,
    }


def _compare(sets: Sequence[Sequence[GoldSentence]], predicted: Sequence[tuple[str, int]]) -> tuple[float, bool]:
    """Return (the share of predicted sentences that are in any gold evidence set, True if a complete set was found).

    sets: the claim's gold evidence sets. predicted: (page, line) pairs. Without predicted sentences the share is 1. An
    empty set counts as found; without any set the second value is False.
    """
    if not predicted:
        return 1.0, not all(sets)
    gold_sentences = {sentence[2:] for sentences in sets for sentence in sentences}
    right = [sentence for sentence in predicted if sentence in gold_sentences]
    if not right:
        return 0.0, not all(sets)
    is_complete = any(all(sentence[2:] in right for sentence in sentences) for sentences in sets)
    return len(right) / len(predicted), is_complete


def _symmetric_columns(gold: Gold, groups: Codes, correct: npt.NDArray[np.bool_]) -> dict[str, Any]:
    origins = [slices.get("origin") if slices else None for slices in gold.slices]
    original = np.array([origin == "original" for origin in origins])
    generated = np.array([origin == "generated" for origin in origins])
    pairs: dict[tuple[int, str], int] = {}
    pair_of = np.array([pairs.setdefault(key, len(pairs)) for key in zip(groups.tolist(), gold.claims, strict=True)])
    group, group_right = _wholes(groups, correct)
    pair, pair_right = _wholes(pair_of, correct)
    return {
        "original": original,
        "original_right": original & correct,
        "generated": generated,
        "generated_right": generated & correct,
        "group": group,
        "group_right": group_right,
        "pair": pair,
        "pair_right": pair_right,
    }


def _wholes(codes: npt.NDArray[Any], correct: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Numbers]:
    """Return two columns that count sets of rows, such as groups: both are 0 except on the first row of each set.

    On this row the first column is 1, and the second is 1 if all rows of the set are correct. codes: the number of the
    set to which each row belongs.
    """
    _, first = np.unique(codes, return_index=True)
    mark = np.zeros(len(codes), dtype=np.bool_)
    mark[first] = True
    wrong = np.bincount(codes, weights=~correct)
    return mark, mark * (wrong[codes] == 0)
