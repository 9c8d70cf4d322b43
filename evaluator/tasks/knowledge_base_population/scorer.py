"""Scorer of knowledge-base-population: makes the table of outcomes, with one row per pair of document and property."""

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.jsonl.ids import slice_columns
from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn
from evaluator.tasks.knowledge_base_population.facts import FactTable, Indices
from evaluator.tasks.knowledge_base_population.gold import Gold
from evaluator.tasks.knowledge_base_population.matching import Matches, by_link, by_spans
from evaluator.tasks.knowledge_base_population.predictions import Answers


def score(task: str, version: int, gold: Gold, answers: Answers) -> Outcomes:
    """Return the outcomes, with a row for each pair of document and property that has a gold or a predicted fact.

    The groups are those of all evaluated documents, also of documents without a row.
    """
    n = max(len(gold.properties), 1)
    facts, predicted = gold.facts, answers.facts
    document_of = np.array(gold.passage_document, dtype=np.int64)
    documents, properties = documents_and_properties(gold, answers)
    row_keys = documents * n + properties
    text, exact = by_spans(facts, predicted, n)
    modes = {"text": text, "exact": exact, "link": by_link(facts, predicted, gold.property_ids)}
    annotated = gold.annotated()
    statistics: dict[str, npt.NDArray[np.float64]] = {}
    for mode, matches in modes.items():
        gold_rows = np.searchsorted(row_keys, _row_keys(matches.gold, document_of, n))
        rows = np.searchsorted(row_keys, _row_keys(matches.predicted, document_of, n))
        wrong = matches.is_false_positive & _counts(matches, annotated)
        statistics[f"{mode}_gold"] = _count(gold_rows, len(row_keys))
        statistics[f"{mode}_tp"] = _count(gold_rows[matches.matched], len(row_keys))
        statistics[f"{mode}_fp"] = _count(rows[wrong], len(row_keys))
    groups, names = _groups(gold)
    return Outcomes(
        task=task,
        task_version=version,
        n_units=len(facts),
        group_names=names,
        groups=groups[documents],
        statistics=statistics,
        dimensions=_dimensions(gold, groups, documents, properties),
        ragged={
            "predicted_lengths": _lengths(predicted, np.searchsorted(row_keys, _row_keys(predicted, document_of, n))),
            "gold_lengths": _lengths(facts, np.searchsorted(row_keys, _row_keys(facts, document_of, n))),
        },
    )


def documents_and_properties(gold: Gold, answers: Answers) -> tuple[Indices, Indices]:
    """Return (the index of the document, the index of the property) of each row of the outcomes."""
    n = max(len(gold.properties), 1)
    document_of = np.array(gold.passage_document, dtype=np.int64)
    row_keys = np.unique(np.concatenate([_row_keys(facts, document_of, n) for facts in (gold.facts, answers.facts)]))
    return row_keys // n, row_keys % n


def _row_keys(facts: FactTable, document_of: Indices, n_properties: int) -> Indices:
    return document_of[facts.passage] * n_properties + facts.property if len(facts) else facts.passage


def _count(rows: Indices, n_rows: int) -> npt.NDArray[np.float64]:
    return np.bincount(rows, minlength=n_rows).astype(np.float64)


def _counts(matches: Matches, annotated: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return a mask over the predicted facts: True for those that can count as false positives.

    These are the facts whose property has a gold fact in any passage, and is exhaustively annotated in the fact's
    passage.
    """
    has_gold = np.zeros(annotated.shape[1], dtype=np.bool_)
    has_gold[matches.gold.property] = True
    predicted = matches.predicted
    if not len(predicted):
        return np.zeros(0, dtype=np.bool_)
    marks: npt.NDArray[np.bool_] = has_gold[predicted.property] & annotated[predicted.passage, predicted.property]
    return marks


def _groups(gold: Gold) -> tuple[npt.NDArray[np.int32], tuple[str | int, ...]]:
    """Return (the index of each document's group, -1 for documents that are not evaluated; the names of the groups)."""
    names: dict[tuple[type, Any], int] = {}
    codes = [
        names.setdefault((type(group), group), len(names)) if evaluated else -1
        for group, evaluated in zip(gold.groups, gold.evaluated, strict=True)
    ]
    return np.array(codes, dtype=np.int32), tuple(name for _, name in names)


def _dimensions(
    gold: Gold, groups: npt.NDArray[np.int32], documents: Indices, properties: Indices
) -> dict[str, Dimension]:
    """Return name -> dimension of the outcomes.

    Their values come from gold alone, so that predictions do not add slices. groups: the index of each document's
    group. documents, properties: the indices of each row's document and property.
    """
    property_indices = np.unique(gold.facts.property)
    names = sorted((gold.property_names[index], index) for index in property_indices.tolist())
    code = np.full(max(len(gold.properties), 1), -1, dtype=np.int32)
    code[[index for _, index in names]] = np.arange(len(names), dtype=np.int32)
    dimensions = {"property": Dimension(code[properties], tuple(name for name, _ in names), False, True)}
    is_evaluated = np.array(gold.evaluated, dtype=np.bool_)
    evaluated_index = np.cumsum(is_evaluated) - 1
    evaluated_slices = [slices for slices, evaluated in zip(gold.slices, gold.evaluated, strict=True) if evaluated]
    for name, column in slice_columns(evaluated_slices).items():
        whole = Dimension.build(column, groups[is_evaluated], declared=True)
        rows = whole.codes[evaluated_index[documents]]
        dimensions[name] = Dimension(rows, whole.values, True, whole.within_groups)
    return dimensions


def _lengths(facts: FactTable, rows: Indices) -> RaggedColumn:
    return RaggedColumn(facts.lengths().ravel(), np.concatenate([rows, rows]))
