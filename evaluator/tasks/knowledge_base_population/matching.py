"""Matching of predicted and gold facts of knowledge-base-population, in three modes.

In the mode `text` two facts match if their spans overlap, in `exact` if their spans are equal, and in `link` if they
link to the same entities. Only facts of the same passage and property are compared.

A gold fact that some prediction matches is a true positive, otherwise a false negative. A prediction is a false
positive unless it matches a prediction (itself or another) that matches a gold fact. In the modes `exact` and `link`
matching is an equality, so this means: unless it matches a gold fact itself. In the mode `text` pairs of predictions
have to be compared too, since overlap is neither transitive nor, for empty spans, reflexive.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.facts import FactTable, Indices, Offsets, comparable
from evaluator.tasks.knowledge_base_population.layout import DATE_PROPERTIES

Marks = npt.NDArray[np.bool_]
_MAX_PAIRS = 1 << 20
_MANY = 256
_ROWS = 128  # so that a block of comparisons fits into a processor's cache


@dataclass(frozen=True)
class Matches:
    """The result of matching in one mode (text, exact or link).

    gold, predicted: the facts that are compared in this mode. matched: True for the gold facts that some prediction
    matches. is_false_positive: True for the predictions that are false positives; the scorer then ignores those whose
    property has no gold fact or is not annotated in the passage.
    """

    gold: FactTable
    predicted: FactTable
    matched: Marks
    is_false_positive: Marks


def by_spans(gold: FactTable, predicted: FactTable, n_properties: int) -> tuple[Matches, Matches]:
    """Return (the matches in the mode text, the matches in the mode exact).

    In the mode text both the subject spans and the object spans must overlap; in the mode exact all four offsets must
    be equal. n_properties: the number of properties.
    """
    gold_offsets, offsets = comparable(gold, predicted)
    gold_keys, keys = _keys(gold, n_properties), _keys(predicted, n_properties)
    matched_gold, matched_exactly = np.zeros((2, len(gold)), dtype=np.bool_)
    member, equal = np.zeros((2, len(predicted)), dtype=np.bool_)  # masks of predictions that match some gold fact
    for i, j in _pairs(keys, gold_keys):
        a, b = offsets[:, i], gold_offsets[:, j]
        match = _overlap(a, b)
        member[i[match]] = True
        matched_gold[j[match]] = True
        same = np.all(a == b, axis=0)
        equal[i[same]] = True
        matched_exactly[j[same]] = True
    # A prediction that matches a gold fact and has no empty span matches itself, so it is no false positive. The other
    # predictions are compared with all that match a gold fact.
    is_nonempty = (offsets[0] < offsets[1]) & (offsets[2] < offsets[3])
    surplus = ~(member & is_nonempty)
    rest, members = np.flatnonzero(surplus), np.flatnonzero(member)
    surplus[rest] = ~_overlap_any(offsets[:, rest], keys[rest], offsets[:, members], keys[members])
    return Matches(gold, predicted, matched_gold, surplus), Matches(gold, predicted, matched_exactly, ~equal)


def by_link(gold: FactTable, predicted: FactTable, property_ids: list[str]) -> Matches:
    """Return the matches in the mode link: the subjects' URIs have equal last segments, and so have the objects' URIs.

    Facts that lack one of the two URIs, and facts of date properties, are left out. property_ids: the id of each
    property, by index.
    """
    gold, predicted = gold.take(_linkable(gold, property_ids)), predicted.take(_linkable(predicted, property_ids))
    segments: dict[str, int] = {}
    gold_ends, ends = _segments(gold, segments), _segments(predicted, segments)
    matched_gold = np.zeros(len(gold), dtype=np.bool_)
    matched = np.zeros(len(predicted), dtype=np.bool_)
    n_properties = len(property_ids)
    for i, j in _pairs(_keys(predicted, n_properties), _keys(gold, n_properties)):
        match = np.all(ends[:, i] == gold_ends[:, j], axis=0)
        matched[i[match]] = True
        matched_gold[j[match]] = True
    return Matches(gold, predicted, matched_gold, ~matched)


def _keys(facts: FactTable, n_properties: int) -> Indices:
    """Return a number for each fact, which is equal for facts of the same passage and property.

    Only facts with the same number are compared. n_properties: the number of properties.
    """
    return facts.passage * n_properties + facts.property


def _pairs(keys: Indices, others: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs (i, j) with keys[i] == others[j], as two arrays per block of pairs."""
    order = np.argsort(others, kind="stable")
    ordered = others[order]
    first = np.searchsorted(ordered, keys, side="left")
    counts = np.searchsorted(ordered, keys, side="right") - first
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(keys):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + _MAX_PAIRS, side="right")))
        block_counts = counts[begin:end]
        i = np.repeat(np.arange(begin, end), block_counts)
        offset = np.arange(len(i)) - np.repeat(ends[begin:end] - block_counts - before, block_counts)
        yield i, order[first[i] + offset]
        begin = end


def _overlap_any(a: Offsets, keys: Indices, b: Offsets, others: Indices) -> Marks:
    """Return a mask of the facts of `a` that overlap any fact of `b` with an equal key.

    keys, others: the keys of the facts of `a` and `b`. A key with many facts of `b` is compared on its own, block by
    block without indices of pairs: a line of a million bytes may hold thousands of facts with one key.
    """
    order = np.argsort(others, kind="stable")
    b, others = b[:, order], others[order]
    first, end = np.searchsorted(others, keys, side="left"), np.searchsorted(others, keys, side="right")
    is_large = end - first > _MANY
    result = np.zeros(len(keys), dtype=np.bool_)
    small, large = np.flatnonzero(~is_large), np.flatnonzero(is_large)
    for i, j in _pairs(keys[small], others):
        match = _overlap(a[:, small[i]], b[:, j])
        result[small[i[match]]] = True
    large = large[np.argsort(keys[large], kind="stable")]
    for of_key in np.split(large, np.flatnonzero(np.diff(keys[large])) + 1):
        for begin in range(0, len(of_key), _ROWS):
            rows = of_key[begin : begin + _ROWS]
            same_key = b[:, None, first[rows[0]] : end[rows[0]]]
            result[rows] = _overlap(a[:, rows, None], same_key).any(axis=1)
    return result


def _overlap(a: Offsets, b: Offsets) -> Marks:
    return _spans_overlap(a[0], a[1], b[0], b[1]) & _spans_overlap(a[2], a[3], b[2], b[3])


def _spans_overlap(a_start: Indices, a_end: Indices, b_start: Indices, b_end: Indices) -> Marks:
    """Return a mask of the pairs of spans that overlap. Spans that only touch do not.

    Of the four conditions that are combined by "or", the last two make a difference only for empty or inverted spans.
    """
    overlap: Marks = (
        ((b_start <= a_start) & (a_start < b_end))
        | ((a_start <= b_start) & (b_start < a_end))
        | ((b_start < a_end) & (a_end <= b_end))
        | ((a_start < b_end) & (b_end <= a_end))
    )
    return overlap


def _linkable(facts: FactTable, property_ids: list[str]) -> Indices:
    """Return the indices of the facts that are compared by links, ascending.

    These facts have both URIs and no date property; of facts with the same passage, property and URIs, only the first
    is compared. property_ids: the id of each property, by index.
    """
    empty = np.array([text == "" for text in facts.uri_texts] or [True])
    dated = np.array([identifier in DATE_PROPERTIES for identifier in property_ids] or [True])
    linkable = np.flatnonzero(~empty[facts.uris].any(axis=0) & ~dated[facts.property])
    rows = np.vstack([facts.passage, facts.property, facts.uris])[:, linkable]
    # The sort is stable, so the first of equal rows comes first.
    order = np.lexsort(rows)
    ordered = rows[:, order]
    is_first = np.ones(len(linkable), dtype=np.bool_)
    is_first[1:] = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
    indices: Indices = np.sort(linkable[order[is_first]])
    return indices


def _segments(facts: FactTable, codes: dict[str, int]) -> Indices:
    """Return an array 2 x facts: the code of the last segment of each URI, trailing slashes ignored.

    codes: segment -> its code; segments that are not in `codes` are added to it.
    """
    of_text = [codes.setdefault(text.rstrip("/").rpartition("/")[2], len(codes)) for text in facts.uri_texts] or [0]
    return np.array(of_text, dtype=np.int64)[facts.uris]
