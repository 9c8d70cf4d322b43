"""Matching of predicted and gold facts in the three modes of knowledge-base-population.

Facts are compared within a passage. A gold fact that some prediction matches is a true positive, otherwise a false
negative. A prediction is no false positive if it matches a prediction that matched a gold fact. For exact spans and for
links "matches" is an equality, so this holds exactly when the prediction itself matches gold. Overlap is neither
transitive nor, for empty spans, reflexive, so pairs of predictions are compared too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.facts import FactTable, Indices, Offsets, comparable
from evaluator.tasks.knowledge_base_population.layout import DATE_PROPERTIES

Marks = npt.NDArray[np.bool_]
_MAX_PAIRS = 1 << 20


@dataclass(frozen=True)
class Matches:
    """The result of one mode.

    gold, predicted: the facts compared in this mode. found: mask of gold facts that a prediction matches. surplus: mask
    of false positives, before unscored properties are ignored.
    """

    gold: FactTable
    predicted: FactTable
    matched: Marks
    surplus: Marks


def by_spans(gold: FactTable, predicted: FactTable, n_properties: int) -> tuple[Matches, Matches]:
    """Return matches for (text, exact): overlapping subject and object spans; four equal offsets."""
    gold_offsets, offsets = comparable(gold, predicted)
    gold_keys, keys = _keys(gold, n_properties), _keys(predicted, n_properties)
    matched_gold, matched_exactly = np.zeros((2, len(gold)), dtype=np.bool_)
    member, equal = np.zeros((2, len(predicted)), dtype=np.bool_)  # predictions that match some gold fact
    for i, j in _pairs(keys, gold_keys):
        a, b = offsets[:, i], gold_offsets[:, j]
        match = _overlap(a, b)
        member[i[match]] = True
        matched_gold[j[match]] = True
        same = np.all(a == b, axis=0)
        equal[i[same]] = True
        matched_exactly[j[same]] = True
    # A member whose spans are not empty matches itself. All others are compared with the members.
    is_nonempty = (offsets[0] < offsets[1]) & (offsets[2] < offsets[3])
    surplus = ~(member & is_nonempty)
    rest, members = np.flatnonzero(surplus), np.flatnonzero(member)
    for i, j in _pairs(keys[rest], keys[members]):
        match = _overlap(offsets[:, rest[i]], offsets[:, members[j]])
        surplus[rest[i[match]]] = False
    return Matches(gold, predicted, matched_gold, surplus), Matches(gold, predicted, matched_exactly, ~equal)


def by_link(gold: FactTable, predicted: FactTable, property_ids: list[str]) -> Matches:
    """Return matches by links: the last segments of both URIs are equal, among facts that can be linked."""
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
    """Return equal keys for facts of one passage and property; only those are compared."""
    return facts.passage * n_properties + facts.property


def _pairs(keys: Indices, others: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Yield all (i, j) with keys[i] == others[j], in blocks."""
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


def _overlap(a: Offsets, b: Offsets) -> Marks:
    return _spans_overlap(a[0], a[1], b[0], b[1]) & _spans_overlap(a[2], a[3], b[2], b[3])


def _spans_overlap(a_start: Indices, a_end: Indices, b_start: Indices, b_end: Indices) -> Marks:
    """Return a mask of overlaps. The last two conditions matter for empty or inverted spans; touching spans do not
    overlap.
    """
    overlap: Marks = (
        ((b_start <= a_start) & (a_start < b_end))
        | ((a_start <= b_start) & (b_start < a_end))
        | ((b_start < a_end) & (a_end <= b_end))
        | ((a_start < b_end) & (b_end <= a_end))
    )
    return overlap


def _linkable(facts: FactTable, property_ids: list[str]) -> Indices:
    """Return indices of facts with both URIs and no date; of equal raw URIs and property in a passage, the first."""
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
    """Return 2 x facts: the code of each URI's last segment, ignoring trailing slashes; new segments get the next
    codes.
    """
    of_text = [codes.setdefault(text.rstrip("/").rpartition("/")[2], len(codes)) for text in facts.uri_texts] or [0]
    return np.array(of_text, dtype=np.int64)[facts.uris]
