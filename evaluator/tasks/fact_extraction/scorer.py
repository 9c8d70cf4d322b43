"""Scorer of fact-extraction: compares predictions with gold, text by text and relation by relation.

The outcomes have one row per text, and one per pair of text and relation. A text's own row has the columns that count
texts, and the predicted facts of relations that no gold fact has. Such facts count as wrong in the overall score, but
in no relation's slice.
"""

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Dimension, Numbers
from evaluator.tasks.fact_extraction.gold import Gold
from evaluator.tasks.fact_extraction.predictions import OTHER, Answers
from evaluator.tasks.items.base import ItemStatistics

Indices = npt.NDArray[np.int64]


def statistics(gold: Gold, answers: Answers) -> ItemStatistics:
    """Return the columns of the outcomes.

    The rows are in the order of the texts: each text's own row first, then one per relation. A text's own row has no
    relation.
    """
    n_texts, width = len(gold.facts), len(gold.relations) + 1
    text_keys = np.arange(n_texts) * width
    gold_keys = _keys_of(gold, width)
    tallies = answers.tallies
    predicted_keys = tallies[:, 0] * width + (tallies[:, 1] - OTHER)
    row_keys = _distinct(np.concatenate([text_keys, gold_keys, predicted_keys]))
    texts, codes = row_keys // width, row_keys % width + OTHER
    gold_rows, rows, own_rows = (np.searchsorted(row_keys, keys) for keys in (gold_keys, predicted_keys, text_keys))
    predicted, found, verifiable = (_sums(rows, len(row_keys), column) for column in tallies.T[2:])
    columns = {
        "gold": _sums(gold_rows, len(row_keys)),
        "predicted": predicted,
        "found": found,
        "verifiable": verifiable,
    }
    columns |= _text_columns(own_rows, texts, found, verifiable)
    # Every relation is that of some row, and a text's own row has none: groups are cut.
    relations = Dimension(codes.astype(np.int32), tuple(gold.relations), False, True)
    return ItemStatistics(columns, {"relation": relations}, items=texts, n_units=len(gold_keys))


def _keys_of(gold: Gold, width: int) -> Indices:
    """Return for each gold fact a number that identifies its text and relation: text * width + 1 + relation code.

    width: the number of keys that each text has: 1 for its own row, then one per relation.
    """
    code = gold.relations
    keys = (text * width + 1 + code[fact[1]] for text, facts in enumerate(gold.facts) for fact in facts)
    return np.fromiter(keys, dtype=np.int64)


def _distinct(indices: Indices) -> Indices:
    """Return the sorted distinct values; `indices` is sorted in place.

    The input is nearly sorted, so that a stable sort needs a thirtieth of the time of numpy.unique.
    """
    indices.sort(kind="stable")
    return indices[np.concatenate(([True], indices[1:] != indices[:-1]))]


def _sums(rows: Indices, n_rows: int, values: Indices | None = None) -> Numbers:
    return np.bincount(rows, weights=values, minlength=n_rows).astype(np.float64)


def _text_columns(own_rows: Indices, texts: Indices, correct: Numbers, verifiable: Numbers) -> dict[str, Numbers]:
    """Return three columns of outcomes by name, which are 0 except on each text's own row.

    On this row, `text` is 1; `verifiable_text` is 1 if gold can verify at least one predicted fact of the text;
    `text_accuracy` is the share of correct facts among the text's verifiable ones. own_rows: the index of each text's
    own row. texts: the index of each row's text. correct, verifiable: the numbers of such predicted facts on each row.
    """
    n_found, n_verifiable = np.bincount(texts, weights=correct), np.bincount(texts, weights=verifiable)
    columns = {name: np.zeros(len(texts)) for name in ("text", "verifiable_text", "text_accuracy")}
    columns["text"][own_rows] = 1.0
    columns["verifiable_text"][own_rows] = n_verifiable > 0
    columns["text_accuracy"][own_rows] = n_found / np.maximum(n_verifiable, 1.0)
    return columns
