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


def by_text(gold: FactTable, predicted: FactTable, n_properties: int) -> Matches:
    """Subject and object spans overlap."""
    gold_offsets, offsets = comparable(gold, predicted)
    gold_keys, keys = _keys(gold, n_properties), _keys(predicted, n_properties)
    found = np.zeros(len(gold), dtype=np.bool_)
    member = np.zeros(len(predicted), dtype=np.bool_)  # matches some gold fact
    for mine, theirs in _pairs(keys, gold_keys):
        match = _overlap(offsets[:, mine], gold_offsets[:, theirs])
        member[mine[match]] = True
        found[theirs[match]] = True
    # A member whose own spans hold a character matches itself. Everybody else is compared with the members.
    holds_some = (offsets[0] < offsets[1]) & (offsets[2] < offsets[3])
    surplus = ~(member & holds_some)
    rest, members = np.flatnonzero(surplus), np.flatnonzero(member)
    for mine, theirs in _pairs(keys[rest], keys[members]):
        match = _overlap(offsets[:, rest[mine]], offsets[:, members[theirs]])
        surplus[rest[mine[match]]] = False
    return Matches(gold, predicted, found, surplus)


def by_exact_spans(gold: FactTable, predicted: FactTable, n_properties: int) -> Matches:
    """All four offsets are equal."""
    gold_offsets, offsets = comparable(gold, predicted)
    gold_rows = np.vstack([_keys(gold, n_properties), gold_offsets])
    rows = np.vstack([_keys(predicted, n_properties), offsets])
    found, matched = _equal(gold_rows.T.tolist(), rows.T.tolist())
    return Matches(gold, predicted, found, ~matched)


def by_link(gold: FactTable, predicted: FactTable, property_ids: list[str]) -> Matches:
    """The last segments of both URIs are equal, among facts that can be linked."""
    gold, predicted = gold.keep(_linkable(gold, property_ids)), predicted.keep(_linkable(predicted, property_ids))
    found, matched = _equal(_link_keys(gold), _link_keys(predicted))
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


def _equal(
    gold: list[list[int]] | list[tuple[object, ...]], predicted: list[list[int]] | list[tuple[object, ...]]
) -> tuple[Marks, Marks]:
    """Which gold rows some prediction equals, and which predictions equal some gold row."""
    gold_keys = [tuple(row) for row in gold]
    keys = [tuple(row) for row in predicted]
    gold_set, key_set = set(gold_keys), set(keys)
    return (
        np.fromiter((key in key_set for key in gold_keys), dtype=np.bool_, count=len(gold_keys)),
        np.fromiter((key in gold_set for key in keys), dtype=np.bool_, count=len(keys)),
    )


def _linkable(facts: FactTable, property_ids: list[str]) -> Marks:
    """Both URIs there, no date; of a passage's facts with the same raw URIs and property the first."""
    dated = [identifier in DATE_PROPERTIES for identifier in property_ids]
    seen: set[tuple[int, int, str, str]] = set()
    keep = np.zeros(len(facts), dtype=np.bool_)
    rows = zip(facts.passage.tolist(), facts.property.tolist(), facts.subject_uris, facts.object_uris, strict=True)
    for place, row in enumerate(rows):
        if row[2] and row[3] and not dated[row[1]] and row not in seen:
            seen.add(row)
            keep[place] = True
    return keep


def _link_keys(facts: FactTable) -> list[tuple[object, ...]]:
    rows = zip(facts.passage.tolist(), facts.property.tolist(), facts.subject_uris, facts.object_uris, strict=True)
    return [(passage, kind, _last_segment(subject), _last_segment(target)) for passage, kind, subject, target in rows]


def _last_segment(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2]
