"""Facts of a file's passages as columns, for vectorised comparison."""

from array import array
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.layout import Fact

Indices = npt.NDArray[np.int64]
Offsets = npt.NDArray[Any]
"""int64; Python integers (dtype object) where some offset does not fit, since any integer is legal."""

_FITS = 1 << 62
_LONGEST = 10**300
"""Span lengths are capped here, so that float64 can hold every length and ratio of two."""


@dataclass(frozen=True)
class FactTable:
    """Facts in the order of the file.

    passage, property: indices; offsets: 4 x facts, subject start and end, object start and end; uris: 2 x facts,
    indices of the subject's and the object's URI in `uri_texts`.
    """

    passage: Indices
    property: Indices
    offsets: Offsets
    uris: Indices
    uri_texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.passage)

    def take(self, chosen: Indices) -> "FactTable":
        """Return the facts at these indices."""
        return FactTable(
            self.passage[chosen], self.property[chosen], self.offsets[:, chosen], self.uris[:, chosen], self.uri_texts
        )

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield each fact as one value: indices of passage and property, offsets, the texts of its URIs."""
        indices = zip(self.passage.tolist(), self.property.tolist(), strict=True)
        spans, uris = self.offsets.T.tolist(), self.uris.T.tolist()
        for pair, span, (subject, object_) in zip(indices, spans, uris, strict=True):
            yield (*pair, *span, self.uri_texts[subject], self.uri_texts[object_])

    def lengths(self) -> npt.NDArray[np.float64]:
        """Return 2 x facts: the number of characters in the subject's and the object's span; 0 for inverted spans."""
        starts, ends = self.offsets[[0, 2]], self.offsets[[1, 3]]
        lengths = np.maximum(ends - starts, 0)
        if lengths.dtype == object:
            lengths = np.minimum(lengths, _LONGEST)
        return np.asarray(lengths, dtype=np.float64)


class FactCollector:
    """Collects facts passage by passage into a FactTable."""

    def __init__(self) -> None:
        self._passage = array("q")
        self._property = array("q")
        self._offsets: tuple[MutableSequence[int], ...] = (array("q"), array("q"), array("q"), array("q"))
        self._uris = (array("q"), array("q"))
        self._uri_indices: dict[str, int] = {}

    def add(self, passage: int, property_index: int, fact: Fact) -> None:
        self._passage.append(passage)
        self._property.append(property_index)
        subject_start, subject_end, object_start, object_end = self._offsets
        try:
            subject_start.append(fact.subjectStart)
            subject_end.append(fact.subjectEnd)
            object_start.append(fact.objectStart)
            object_end.append(fact.objectEnd)
        except OverflowError:
            self._add_huge_offsets(fact)
        uri_indices = self._uri_indices
        self._uris[0].append(uri_indices.setdefault(fact.subjectUri, len(uri_indices)))
        self._uris[1].append(uri_indices.setdefault(fact.objectUri, len(uri_indices)))

    def _add_huge_offsets(self, fact: Fact) -> None:
        """Switch the offsets to Python integers, since any integer is legal, and add the fact's."""
        n = len(self._passage) - 1
        self._offsets = tuple(list(column[:n]) for column in self._offsets)
        huge = (fact.subjectStart, fact.subjectEnd, fact.objectStart, fact.objectEnd)
        for column, value in zip(self._offsets, huge, strict=True):
            column.append(value)

    def table(self) -> FactTable:
        return FactTable(
            np.array(self._passage, dtype=np.int64),
            np.array(self._property, dtype=np.int64),
            _offsets(self._offsets),
            np.array(self._uris, dtype=np.int64),
            tuple(self._uri_indices),
        )


def _offsets(columns: tuple[MutableSequence[int], ...]) -> Offsets:
    if isinstance(columns[0], list):
        return np.array(columns, dtype=object)
    offsets = np.array(columns, dtype=np.int64)
    if offsets.size and (offsets.max() > _FITS or offsets.min() < -_FITS):
        return offsets.astype(object)  # so that end - start cannot overflow
    return offsets


def comparable(a: FactTable, b: FactTable) -> tuple[Offsets, Offsets]:
    """Return both tables' offsets as int64, with the order and the equalities of the original integers."""
    if a.offsets.dtype.kind == b.offsets.dtype.kind == "i":
        return a.offsets, b.offsets
    combined = np.concatenate([a.offsets.astype(object).ravel(), b.offsets.astype(object).ravel()])
    ranks = {value: rank for rank, value in enumerate(sorted(set(combined.tolist())))}
    coded = np.array([ranks[value] for value in combined.tolist()], dtype=np.int64)
    size = a.offsets.size
    return coded[:size].reshape(a.offsets.shape), coded[size:].reshape(b.offsets.shape)
