"""Facts as columns: what a file's passages say, ready to be compared at once."""

from array import array
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.tasks.knowledge_base_population.layout import Fact

Places = npt.NDArray[np.int64]
Offsets = npt.NDArray[Any]
"""int64; Python integers (dtype object) where some offset does not fit: any integer is legal."""

_FITS = 1 << 62
_LONGEST = 10**300
"""Spans are measured up to here: no legal offsets make a length, or a ratio of two, that float64 cannot hold."""


@dataclass(frozen=True)
class FactTable:
    """One entry a fact, in the order of the file. passage, property: places; offsets: 4 x facts, subject start and
    end, object start and end; uris: 2 x facts, the subject's and the object's place in `uri_texts`."""

    passage: Places
    property: Places
    offsets: Offsets
    uris: Places
    uri_texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.passage)

    def take(self, chosen: Places) -> "FactTable":
        """The facts at these places."""
        return FactTable(
            self.passage[chosen], self.property[chosen], self.offsets[:, chosen], self.uris[:, chosen], self.uri_texts
        )

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Each fact as one value: places of passage and property, offsets, the texts of its URIs."""
        places = zip(self.passage.tolist(), self.property.tolist(), strict=True)
        spans, uris = self.offsets.T.tolist(), self.uris.T.tolist()
        for place, span, (subject, object_) in zip(places, spans, uris, strict=True):
            yield (*place, *span, self.uri_texts[subject], self.uri_texts[object_])

    def lengths(self) -> npt.NDArray[np.float64]:
        """2 x facts: characters in the subject's and the object's span; an inverted span has none."""
        starts, ends = self.offsets[[0, 2]], self.offsets[[1, 3]]
        lengths = np.maximum(ends - starts, 0)
        if lengths.dtype == object:
            lengths = np.minimum(lengths, _LONGEST)
        return np.asarray(lengths, dtype=np.float64)


class FactCollector:
    """Gathers facts passage by passage into a FactTable."""

    def __init__(self) -> None:
        self._passage = array("q")
        self._property = array("q")
        self._offsets: tuple[MutableSequence[int], ...] = (array("q"), array("q"), array("q"), array("q"))
        self._uris = (array("q"), array("q"))
        self._uri_places: dict[str, int] = {}

    def add(self, passage: int, property_place: int, fact: Fact) -> None:
        self._passage.append(passage)
        self._property.append(property_place)
        subject_start, subject_end, object_start, object_end = self._offsets
        try:
            subject_start.append(fact.subjectStart)
            subject_end.append(fact.subjectEnd)
            object_start.append(fact.objectStart)
            object_end.append(fact.objectEnd)
        except OverflowError:
            self._add_huge_offsets(fact)
        places = self._uri_places
        self._uris[0].append(places.setdefault(fact.subjectUri, len(places)))
        self._uris[1].append(places.setdefault(fact.objectUri, len(places)))

    def _add_huge_offsets(self, fact: Fact) -> None:
        """Any integer is legal: from here on the offsets are kept as Python's."""
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
            tuple(self._uri_places),
        )


def _offsets(columns: tuple[MutableSequence[int], ...]) -> Offsets:
    if isinstance(columns[0], list):
        return np.array(columns, dtype=object)
    offsets = np.array(columns, dtype=np.int64)
    if offsets.size and (offsets.max() > _FITS or offsets.min() < -_FITS):
        return offsets.astype(object)  # so that end - start cannot overflow
    return offsets


def comparable(a: FactTable, b: FactTable) -> tuple[Offsets, Offsets]:
    """Both tables' offsets as int64 in the same order and with the same equalities as the integers they stand for."""
    if a.offsets.dtype.kind == b.offsets.dtype.kind == "i":
        return a.offsets, b.offsets
    together = np.concatenate([a.offsets.astype(object).ravel(), b.offsets.astype(object).ravel()])
    ranks = {value: rank for rank, value in enumerate(sorted(set(together.tolist())))}
    coded = np.array([ranks[value] for value in together.tolist()], dtype=np.int64)
    size = a.offsets.size
    return coded[:size].reshape(a.offsets.shape), coded[size:].reshape(b.offsets.shape)
