"""The facts of a gold or predictions file as columns, for vectorised comparison."""

from array import array
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.layout import Fact

Indices = npt.NDArray[np.int64]
Offsets = npt.NDArray[Any]
"""An array of int64, or of Python integers (dtype object) if some offset does not fit: files may have any integer."""

_FITS = 1 << 62
_LONGEST = 10**300
"""The maximum span length; longer spans count as this long, so that float64 can hold lengths and their ratios."""


@dataclass(frozen=True)
class FactTable:
    """Facts as arrays, in the order of the file.

    passage, property: the fact's passage and property, as indices. offsets: an array 4 x facts: subject start, subject
    end, object start, object end. uris: an array 2 x facts: the subject's and the object's URI, as indices into
    `uri_texts`.
    """

    passage: Indices
    property: Indices
    offsets: Offsets
    uris: Indices
    uri_texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.passage)

    def take(self, chosen: Indices) -> "FactTable":
        """Return a table of the facts at the indices `chosen`, in the order of these indices."""
        return FactTable(
            self.passage[chosen], self.property[chosen], self.offsets[:, chosen], self.uris[:, chosen], self.uri_texts
        )

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield each fact as a tuple: indices of passage and property, four offsets, URIs of subject and object."""
        indices = zip(self.passage.tolist(), self.property.tolist(), strict=True)
        spans, uris = self.offsets.T.tolist(), self.uris.T.tolist()
        for pair, span, (subject, object_) in zip(indices, spans, uris, strict=True):
            yield (*pair, *span, self.uri_texts[subject], self.uri_texts[object_])

    def lengths(self) -> npt.NDArray[np.float64]:
        """Return an array 2 x facts: the lengths of the subject's and object's spans; 0 for an inverted span."""
        starts, ends = self.offsets[[0, 2]], self.offsets[[1, 3]]
        lengths = np.maximum(ends - starts, 0)
        if lengths.dtype == object:
            lengths = np.minimum(lengths, _LONGEST)
        return np.asarray(lengths, dtype=np.float64)


class FactCollector:
    """Builder of a FactTable, to which facts are added one by one."""

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
        """Change the columns of offsets to lists of Python integers, and add a fact's offsets, which exceed int64."""
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
    """Return the offsets of two tables as int64 arrays, to be compared with each other.

    If some do not fit, all are replaced by their ranks among the offsets of both tables, which have the same order.
    """
    if a.offsets.dtype.kind == b.offsets.dtype.kind == "i":
        return a.offsets, b.offsets
    combined = np.concatenate([a.offsets.astype(object).ravel(), b.offsets.astype(object).ravel()])
    ranks = {value: rank for rank, value in enumerate(sorted(set(combined.tolist())))}
    coded = np.array([ranks[value] for value in combined.tolist()], dtype=np.int64)
    size = a.offsets.size
    return coded[:size].reshape(a.offsets.shape), coded[size:].reshape(b.offsets.shape)
