"""Which facts match, and what is counted: the three modes of knowledge-base-population.

A passage at a time. A gold fact that some prediction matches is a true positive, else a false negative. A prediction
leaves the pool of false positives when it matches a prediction that matched a gold fact. For exact spans and for
links "matches" is an equality, so that a prediction leaves exactly when it matches gold itself; overlap is neither
transitive nor, for empty spans, reflexive, so there the pairs of predictions are compared too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.facts import FactTable, Offsets, Places, comparable
from evaluator.tasks.knowledge_base_population.layout import DATE_PROPERTIES

Marks = npt.NDArray[np.bool_]
_MAX_PAIRS = 1 << 20


@dataclass(frozen=True)
class Matches:
    """gold, predicted: the facts that took part in this mode. found: gold facts that a prediction matches.
    surplus: predictions left in the pool of false positives, before unscored properties are ignored."""

    gold: FactTable
    predicted: FactTable
    found: Marks
    surplus: Marks


def by_spans(gold: FactTable, predicted: FactTable, n_properties: int) -> tuple[Matches, Matches]:
    """(text, exact): subject and object spans overlap; all four offsets are equal."""
    gold_offsets, offsets = comparable(gold, predicted)
    gold_keys, keys = _keys(gold, n_properties), _keys(predicted, n_properties)
    found, found_exactly = np.zeros((2, len(gold)), dtype=np.bool_)
    member, equal = np.zeros((2, len(predicted)), dtype=np.bool_)  # predictions that match some gold fact
    for mine, theirs in _pairs(keys, gold_keys):
        a, b = offsets[:, mine], gold_offsets[:, theirs]
        match = _overlap(a, b)
        member[mine[match]] = True
        found[theirs[match]] = True
        same = np.all(a == b, axis=0)
        equal[mine[same]] = True
        found_exactly[theirs[same]] = True
    # A member whose own spans hold a character matches itself. Everybody else is compared with the members.
    holds_some = (offsets[0] < offsets[1]) & (offsets[2] < offsets[3])
    surplus = ~(member & holds_some)
    rest, members = np.flatnonzero(surplus), np.flatnonzero(member)
    for mine, theirs in _pairs(keys[rest], keys[members]):
        match = _overlap(offsets[:, rest[mine]], offsets[:, members[theirs]])
        surplus[rest[mine[match]]] = False
    return Matches(gold, predicted, found, surplus), Matches(gold, predicted, found_exactly, ~equal)


def by_link(gold: FactTable, predicted: FactTable, property_ids: list[str]) -> Matches:
    """The last segments of both URIs are equal, among facts that can be linked."""
    gold, predicted = gold.take(_linkable(gold, property_ids)), predicted.take(_linkable(predicted, property_ids))
    segments: dict[str, int] = {}
    gold_ends, ends = _segments(gold, segments), _segments(predicted, segments)
    found = np.zeros(len(gold), dtype=np.bool_)
    matched = np.zeros(len(predicted), dtype=np.bool_)
    n_properties = len(property_ids)
    for mine, theirs in _pairs(_keys(predicted, n_properties), _keys(gold, n_properties)):
        match = np.all(ends[:, mine] == gold_ends[:, theirs], axis=0)
        matched[mine[match]] = True
        found[theirs[match]] = True
    return Matches(gold, predicted, found, ~matched)


def _keys(facts: FactTable, n_properties: int) -> Places:
    """Facts are compared within a passage and a property only."""
    return facts.passage * n_properties + facts.property


def _pairs(keys: Places, others: Places) -> Iterator[tuple[Places, Places]]:
    """All (i, j) with keys[i] == others[j], some at a time."""
    order = np.argsort(others, kind="stable")
    ordered = others[order]
    first = np.searchsorted(ordered, keys, side="left")
    counts = np.searchsorted(ordered, keys, side="right") - first
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(keys):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + _MAX_PAIRS, side="right")))
        some = counts[begin:end]
        mine = np.repeat(np.arange(begin, end), some)
        place = np.arange(len(mine)) - np.repeat(ends[begin:end] - some - before, some)
        yield mine, order[first[mine] + place]
        begin = end


def _overlap(a: Offsets, b: Offsets) -> Marks:
    return _spans_overlap(a[0], a[1], b[0], b[1]) & _spans_overlap(a[2], a[3], b[2], b[3])


def _spans_overlap(a_start: Places, a_end: Places, b_start: Places, b_end: Places) -> Marks:
    """Four ways to overlap; the last two matter where a span is empty or inverted. Touching spans do not overlap."""
    overlap: Marks = (
        ((b_start <= a_start) & (a_start < b_end))
        | ((a_start <= b_start) & (b_start < a_end))
        | ((b_start < a_end) & (a_end <= b_end))
        | ((a_start < b_end) & (b_end <= a_end))
    )
    return overlap


def _linkable(facts: FactTable, property_ids: list[str]) -> Places:
    """Places of facts with both URIs and no date; of those in a passage with equal raw URIs and property the first."""
    empty = np.array([text == "" for text in facts.uri_texts] or [True])
    dated = np.array([identifier in DATE_PROPERTIES for identifier in property_ids] or [True])
    kept = np.flatnonzero(~empty[facts.uris].any(axis=0) & ~dated[facts.property])
    rows = np.vstack([facts.passage, facts.property, facts.uris])[:, kept]
    # Stable, so that the first of equal rows stands first among them.
    order = np.lexsort(rows)
    ordered = rows[:, order]
    is_first = np.ones(len(kept), dtype=np.bool_)
    is_first[1:] = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
    chosen: Places = np.sort(kept[order[is_first]])
    return chosen


def _segments(facts: FactTable, codes: dict[str, int]) -> Places:
    """2 x facts: the code of each URI's last segment, after trailing slashes; new segments get the next codes."""
    of_text = [codes.setdefault(text.rstrip("/").rpartition("/")[2], len(codes)) for text in facts.uri_texts] or [0]
    return np.array(of_text, dtype=np.int64)[facts.uris]
